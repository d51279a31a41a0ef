// Package collections keeps collections by topic, and the queue of the crawl that
// makes them: every URL that it met, over all hosts, those that wait in the order of
// their priority. Record is in Postgres, Memory in the process (for generated webs);
// both keep to the same rules. In Postgres each host has the best of what waits there, so
// that the next request costs the same however much waits.
//
// What a visit brought is one transaction, fenced by the lease of the host: whoever
// lost it writes nothing. A URL is identified by the hash of its identity, so meeting
// it again changes nothing but, where it promises more, its place in the queue.
package collections
