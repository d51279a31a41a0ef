// Package crawl crawls one site, slice by slice. Its loop takes the URL that
// promises most from a window of those that wait, asks a Source for it, turns the
// answer into links (scope says which are followed, and as what) and documents,
// hands these to a Recorder and to a Judge, and learns from the verdict.
//
// Crawler.Slice runs it under the lease of a host: the source is the polite client
// (web), the recorder is Postgres (record), the judge is the collection (library).
// What a slice did is in the record when it returns, and when it is killed too, but
// for what was in flight; the next slice goes on there. Run runs the same loop over
// any other parts: package evaluate measures it over recorded sites.
package crawl
