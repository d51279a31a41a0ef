// Command starter starts, watches and reports harvests, and runs the embedded
// servers of a single machine.
package main

import (
	"os"

	"gleaner/internal/document"
)

func main() {
	child := document.MaybeRunChild()
	os.Exit(newRootCommand(os.Stdout, os.Stderr, child).Main(exitCode))
}
