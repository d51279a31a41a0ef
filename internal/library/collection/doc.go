// Package collection takes a fetched file to what the library wants of it: it
// stores the file, reads it, decides whether it is academic and which wanted
// paper it is. A crawl calls Keep, and Judge for each document of it. JudgeWaiting judges
// later what was not judged then.
//
// The order is blob, then row, then judgement, so that a crash leaves a blob
// that nobody names (put again under the same name by the next attempt) or a
// document in the state "new" (judged by whoever comes next), and never a row
// without its file.
package collection
