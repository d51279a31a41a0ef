// Package ingest takes over what another crawler left: it reads the crawler's log
// resource by resource, and shows each file in it to the same filters, readers and
// collection as a crawl does (the Crawl Document Importer of Wu et al., WIDM 2012,
// in this house).
//
// A crawler's log is a [Log]; a new kind of log is one more implementation, and a
// case of [Open]. An [Importer] takes the resources in turn, in steps: what a step
// did, its counters and where it ended are one transaction, so an import that is
// killed goes on where it was, and no resource counts twice. What stands in the way
// of one resource (a page that is no document, a host on the blacklist, a record cut
// off) is its outcome, and never the end of the import.
//
// [Importer.Verify] ends an import (Algorithm 1): what it says it saved is compared
// with what is on record and in the repository, and each difference is noted.
package ingest
