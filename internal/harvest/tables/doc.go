// Package tables does jobs on what is on record: it cleans documents and parent pages,
// generates the whitelist, and retrieves documents that meet conditions (the table
// jobs of CDI: Wu et al., WIDM 2012).
//
// A job goes in steps. What a step did, a line for each document or page that it
// looked at, its counters and where the job goes on are one transaction, so a job that
// is killed goes on where it was, and nothing counts twice. A cleaning changes nothing
// but where its options say so ([Options.InPlace]): without, it tells what would go.
package tables
