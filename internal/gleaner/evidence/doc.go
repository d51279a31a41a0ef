// Package evidence holds the nouns of the search for homepages: what a search
// engine answered, the candidates that were thought of, and what was decided for an
// author and why.
package evidence
