// Package match answers one question: which work is this? It compares a
// document, or a record of another source, with the papers that are wanted, and
// says for each likely one how sure it is and why.
//
// An [Index] is made once from the wanted papers of all venues and is read-only
// afterwards, so that any number of goroutines may ask it. Titles are compared
// as streams of letters ([Normalise]): lost spaces, hyphens at line ends, small
// capitals, accents and ligatures make no difference there. A few of the rarest
// letter n-grams of each title stand in an inverted index, so that the cost of a
// question does not grow with the number of titles; an alignment with the few
// candidates then tells a misread letter from a different word.
//
// A title proves a document only where a title stands: at the head of the first
// page, over its authors. The same words in a reference list, a table of
// contents or a curriculum vitae prove nothing.
package match
