// Command lab measures Gleaner and trains its weights: benchmarks on this machine,
// strategies on recorded sites, homepages against labels. A harvest needs none of
// it.
package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"gleaner/internal/devstack"
	"gleaner/internal/document"
	"gleaner/internal/service/program"
)

const rootHelp = `Measure Gleaner, and train its weights on labels of your own.

How fast is it here?                   lab bench crawl
What does an order of links save?      lab evaluate crawl --warc site.warc.gz
What do the papers' tables come to?    lab papers
Are the homepages right?               lab evaluate homepages --labels judged.tsv
Learn from what you know better:       lab train filter | homepage | links | topic

Exit codes are those of starter.`

// cli is what every command shares.
type cli struct{ *program.Program }

func newRootCommand(out, errw io.Writer, child document.Child) *cli {
	root := &cobra.Command{Use: "lab", Short: "Measure Gleaner, and train its weights", Long: rootHelp}
	c := &cli{program.New(root, out, errw, child, devstack.Use)}
	root.AddCommand(c.benchCommand(), c.evaluateCommand(), c.papersCommand(), c.trainCommand())
	return c
}

func main() {
	child := document.MaybeRunChild()
	os.Exit(newRootCommand(os.Stdout, os.Stderr, child).Main(program.ExitCode))
}
