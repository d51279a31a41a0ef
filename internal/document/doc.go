// Package document finds the paper in a file. It tells what kind of file came
// (Sniff, by content and never by name alone), unpacks what is packed (Unpack,
// every member bounded), reads text, page count and layout out of it
// (Reader.Read), judges whether that is an academic document and of which class
// (Filter.Judge), and fingerprints the text, so that two copies with different
// bytes are known as one (Fingerprint, Similarity).
//
// No file can hang or kill the process that reads it: poppler, ghostscript and
// the built-in Go reader all run as child processes with limits on processor time,
// memory and files, without network and environment, and are killed with all that
// they started at the clock's limit and when this process dies. A bad file is never
// an error: it ends in a Text whose Outcome says what is wrong. Read returns an
// error only when the context ended or the system failed (no temporary file, no
// process).
//
// A program that wants the built-in reader as a child of its own calls
//
//	child := document.MaybeRunChild()
//
// as the first statement of main, and hands child to NewReader in Options.
// Without it the built-in reader works within the process, with a deadline but
// without a memory limit; Text.Reader tells the two apart.
//
// The package stores nothing. The weights of the filter are embedded
// (filter.json) and carry their origin and cross-validated figures; TrainFilter
// makes them anew.
package document
