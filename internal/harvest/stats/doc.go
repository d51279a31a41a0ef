// Package stats turns the record into rates and lists: how many of a directory's
// or a site's pages are relevant, how many files come of them and how many of
// these are accepted (Chen, CINDI Robot, 2008); which domains give the most and
// the most cited documents (Wu et al., WebSci 2012); and what follows from it:
// directories to avoid, sites not worth another crawl, a whitelist.
//
// Every number is computed from the rows of urls, locations and documents, never
// counted up, so that a retried activity or a re-judged document leaves it exact.
package stats
