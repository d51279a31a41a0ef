// Package collection takes a fetched file to what the library wants of it: it
// stores the file, reads it, decides whether it is academic and which wanted
// paper it is. Add is what a crawl or an import calls; Judge is run on each new
// document, by the crawl itself or later by whoever has time for it.
//
// The order is blob, then row, then judgement, so that a crash leaves a blob
// that nobody names (put again under the same name by the next attempt) or a
// document in the state "new" (judged by whoever comes next), and never a row
// without its file.
package collection
