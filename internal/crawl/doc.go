// Package crawl runs one slice of the crawl of one site: it takes the host's
// lease, and then, until the slice is full or nothing waits, picks a URL, fetches
// it, keeps it if it is a document, enters its links if it is a page, and learns
// from the result. What a slice did is in the record when it returns, and when
// it is killed too, but for what was in flight; the next slice goes on there.
package crawl
