// Package evaluate runs ranking strategies over recorded snapshots of sites and
// measures them: documents against pages, requests to a share of the papers,
// and how much of the possible saving between breadth-first (0) and an oracle
// that knows the site (1) a strategy makes. Nothing is fetched: a snapshot is
// a folder, a WARC file or a generated site. The simulator shows a strategy
// what the crawl loop would show it, and no more.
package evaluate
