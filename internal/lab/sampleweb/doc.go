// Package sampleweb generates an academic web and serves it: authors'
// homepages of many shapes, department servers, a proceedings host, a
// publisher's wall, a large conference site, real PDF and PostScript files, a
// metadata service in DBLP's shapes and a search service in SearXNG's. The demo,
// the tests, the benchmarks and the faults of package chaos crawl it. Of its parts
// some serve alone: a Pile of papers, pages of a Thicket to measure speed on, the
// Index that ranks pages as a search engine does.
//
// Everything follows from Options.Seed: two Webs of equal options give the same
// bytes, whatever is asked for in which order. Pages and files are made when
// they are asked for, so that a site of a hundred thousand pages takes no
// memory. What there is to be found is known exactly: Truth lists every paper
// with its addresses and digests, and every author with their homepage.
//
// A Web is an HTTP forward proxy: a crawler whose HTTP_PROXY is its
// address sees hosts under .example. Nothing is ever fetched from outside. It
// keeps a log of requests (Log) from which politeness can be judged.
package sampleweb
