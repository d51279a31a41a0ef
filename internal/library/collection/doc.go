// Package collection stores and judges fetched files: it stores a file, reads it, decides whether
// it is academic, and matches it with wanted papers. A crawl calls Keep, and Judge for each
// document of the file. JudgeWaiting judges the rest later.
//
// The order is blob, row, judgement. So a crash leaves a blob without a row (which the next
// attempt stores again under its name) or a document in state "new" (which any process judges),
// and never a row without its file.
package collection
