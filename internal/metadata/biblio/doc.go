// Package biblio reads and writes lists of papers: CSV, JSON Lines, BibTeX, RIS and
// plain lists of DOIs, as libraries and reference managers exchange them. A list read gives
// [gleaner.Paper]s; what a format cannot say stays empty. Input that cannot be
// understood is a [*SyntaxError] with the line and column to look at. Nothing is
// guessed from broken input and nothing is skipped silently.
package biblio
