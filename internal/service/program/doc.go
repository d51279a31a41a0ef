// Package program is what Gleaner's command lines share: settings as flags,
// results as text or JSON, progress, files, and exit codes.
package program
