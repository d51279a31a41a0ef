// Package workflows orchestrates: what is done in which order, what runs side by
// side, what waits, and what a person may say meanwhile. Nothing here reads a
// clock, a database or a network; all of that is in activities. Each file holds
// one workflow that reads from top to bottom; what it decides is a pure function
// beside it.
package workflows
