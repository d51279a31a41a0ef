// Package gleaner holds the nouns that every other package speaks of: years,
// papers, authors and the identifiers that papers go by. It has no behaviour
// beyond what the nouns mean, stores nothing, and imports nothing but the
// standard library.
package gleaner
