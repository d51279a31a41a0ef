// Package tables runs jobs on the record: it cleans documents and parent pages, generates the
// whitelist, and retrieves documents by conditions (the table jobs of CDI: Wu et al., WIDM 2012).
//
// A job runs in steps. One transaction stores the results of a step (a line per examined document
// or page), its counters and the next position. So a killed job continues at its position, and
// counts nothing twice. A cleaning without [Options.InPlace] only reports what it would remove.
package tables
