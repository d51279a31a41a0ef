// Package terminal is the one way to a terminal. What Gleaner prints holds words
// of strangers: titles, link texts, names of files in archives. Such words could
// hold control sequences, which a terminal obeys.
package terminal
