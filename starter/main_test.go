package main

import (
	"io"
	"os"
	"testing"

	"github.com/spf13/cobra"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/document"
)

func TestMain(m *testing.M) {
	document.MaybeRunChild()
	os.Exit(devtest.Main(m))
}

func newRoot(out, errw io.Writer) *cobra.Command {
	return newRootCommand(out, errw, document.Child{}).Root
}
