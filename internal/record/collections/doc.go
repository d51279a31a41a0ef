// Package collections stores collections by topic and the queue of their crawl: every URL found
// on any host, and those that wait, by priority. Record is in Postgres, Memory in the process
// (for generated webs); both follow the same rules. In Postgres each host's row holds its best
// waiting URL, so that the cost of the next request does not depend on the length of the queue.
//
// The result of a visit is one transaction, fenced by the lease of the host: a holder that lost
// it writes nothing. A URL is identified by the hash of its identity. Finding it again only
// changes its place in the queue, if the new priority is greater.
package collections
