// Package evaluate runs ranking strategies over recorded snapshots of sites and
// measures them: documents against pages, requests to a share of the papers,
// and how much of the possible saving between breadth-first (0) and an oracle
// that knows the site (1) a strategy makes. Nothing is fetched: a snapshot is
// a folder, a WARC file or a generated site, and the crawl is package crawl's own
// loop, with the snapshot as its source and its record in memory: its scope, its
// limits on links and its window count.
package evaluate
