// Package page understands an answer of a web server as a page: its character
// set, title, text, robots directives and, above all, its links with everything
// that helps to decide which of them leads to a paper. Parse never fetches.
package page
