// Package synthesis makes collections by topic: Bergmark's Collection Synthesis
// (JCDL 2002) over the record, the polite client and the library.
//
// Maker.Prepare asks a search engine for each topic, fetches the first results and
// makes the topics' centroids (package topic). Maker.Slice then crawls across hosts:
// it takes the URL of the highest priority whose host is free, leases that host, asks
// for the one URL, hands a page or a document's text to the classifier, writes what
// follows, and gives the host back. Any number of slices work on one collection, in any
// number of processes; the lease keeps two of them, and the crawl of that site, from
// one host. What a slice did is in the record after each request; one that is killed
// loses what was in flight.
//
// Run runs the same loop over any other parts: it is measured over generated webs.
package synthesis
