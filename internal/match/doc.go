// Package match identifies works. It compares a document, or a record of another source, with the
// wanted papers, and returns each likely paper with a verdict and the reasons.
//
// An [Index] is made once from the wanted papers of all venues. It is read-only afterwards and
// safe for concurrent use. Titles are compared as streams of letters ([Normalise]), in which lost
// spaces, hyphens at line ends, small capitals, accents and ligatures make no difference. An
// inverted index holds a few of the rarest letter n-grams of each title, so that the cost of a
// lookup does not grow with the number of titles. An alignment with the few candidates then
// distinguishes misread letters from different words.
//
// A title identifies a document only at the head of the first page, over its authors. The same
// words in a reference list, a table of contents or a curriculum vitae are no evidence.
package match
