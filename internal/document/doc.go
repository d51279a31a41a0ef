// Package document finds the paper in a file. It tells what kind of file came
// (Sniff, by content and never by name alone), unpacks what is packed (Unpack,
// every member bounded), reads text, page count and layout out of it
// (Reader.Read), judges whether that is an academic document and of which class
// (Filter.Judge), and fingerprints the text, so that two copies with different
// bytes are known as one (Fingerprint, Similarity).
//
// No file can hang or kill the process that reads it: poppler, ghostscript and
// the built-in PDF reader run as child processes with limits on processor time,
// memory and files, without network and environment, and are killed with all that
// they started at the clock's limit and when this process dies. A bad file is never
// an error: it ends in a Text whose Outcome says what is wrong. Read returns an
// error only when the context ended or the system failed (no temporary file, no
// process).
//
// PDFs are read by poppler. Where it is missing, or gave a file up, a small reader in
// Go is asked, for the first three and last three pages: of every tenth PDF of
// recorded sites, 72 that poppler reads, it had four fifths of the words of the first
// page of 59 and the printed title of 60, at many times poppler's processor time. It
// stands in for a missing poppler, and saves little beside one: an
// earlier, larger reader in Go on the same library found not one word in what poppler
// had given up, of 726 PDFs of recorded sites none, of 181 that were made or found to
// break readers none. A program has it that calls
//
//	child := document.MaybeRunChild()
//
// as the first statement of main, and hands child to NewReader in Options.
//
// The package stores nothing. The weights of the filter are embedded
// (filter.json) and carry their origin and cross-validated figures; TrainFilter
// makes them anew.
package document
