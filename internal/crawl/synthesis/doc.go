// Package synthesis builds collections by topic: Bergmark's Collection Synthesis (JCDL 2002) over
// the record, the polite client and the library.
//
// Maker.Prepare searches for each topic, fetches the first results and computes the topics'
// centroids (package topic). Maker.Slice then crawls across hosts. It takes the URL of the
// highest priority whose host is free, leases the host, requests the URL, classifies the page or
// document, records the result, and releases the host. Any number of slices in any number of
// processes work on one collection; the lease excludes other slices and crawls from a host. Each
// result is recorded at once; a killed slice loses only its requests in flight.
//
// Run runs the same loop over other parts, for measurements on generated webs.
package synthesis
