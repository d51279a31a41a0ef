package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"gleaner/internal/ingest"
	"gleaner/internal/lab/bench"
	"gleaner/internal/service/program"
)

func (c *cli) benchImportCommand() *cobra.Command {
	var o bench.ImportOptions
	var filter, mirror string
	cmd := &cobra.Command{Use: "import", Short: "Records and documents a second of an import, tenth by tenth", Args: cobra.NoArgs,
		Long: `Write a WARC file of generated pages and, every so often, a generated paper as PDF,
and import it into an empty record: with the filter off (store and record), on (read,
judge and match), or both in turn. The table says how many records and documents a
second that is, and for each tenth of the archive how many records a second, and the
most memory that the process had. The archive and what is imported lie in the system's
folder for temporary files (TMPDIR), and are removed. Beside them stands what a bare
loop over the same archive does: one that reads it (gzip, heads, bodies), and one that
also writes a row for each record and a file for each document. With --mirror the files of
a folder (DIR/HOST/PATH) are imported in its place, and no bare loop reads them.`,
		Example: "  lab bench import\n  lab bench import --records 1000000 --filter off\n  lab bench import --records 100000 --every 10 --json\n  lab bench import --mirror mirror --filter on",
		RunE: func(cmd *cobra.Command, _ []string) error {
			runs, ok := map[string][]bool{"on": {true}, "off": {false}, "both": {false, true}}[filter]
			if !ok || o.Every < 1 || o.Records < o.Every {
				return fmt.Errorf("%w: --filter is on, off or both, and --records has a document by --every", program.ErrUsage)
			}
			if mirror != "" {
				o.Records, o.Format = 0, ingest.Mirror
			}
			all, err := c.benchImport(cmd.Context(), mirror, o, runs)
			if err != nil {
				return err
			}
			return c.Print(all, func(w io.Writer) error {
				for _, r := range all {
					writeImportRun(w, r)
				}
				return nil
			})
		}}
	fl := cmd.Flags()
	fl.IntVar(&o.Records, "records", 10_000, "answers in the archive")
	fl.IntVar(&o.Every, "every", 20, "each so manieth is a document, the others are pages")
	fl.StringVar(&mirror, "mirror", "", "import this folder (DIR/HOST/PATH) in place of an archive")
	fl.StringVar(&filter, "filter", "both", "on, off or both")
	return cmd
}

// benchImport imports an archive or folder, "" for an archive that it generates and that bare
// loops read, too.
func (c *cli) benchImport(ctx context.Context, from string, o bench.ImportOptions, filters []bool) (all []bench.ImportRun, err error) {
	dir, err := os.MkdirTemp("", "gleaner-bench-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, stop, err := c.benchServers(ctx, false)
	if err != nil {
		return nil, err
	}
	defer stop()
	o.DatabaseURL, o.Child = s.DatabaseURL, c.Child
	var bare bench.BareLoop
	if from == "" {
		from = filepath.Join(dir, "bench.warc.gz")
		if err := bench.WriteArchive(ctx, from, o); err != nil {
			return nil, err
		}
		files, err := os.MkdirTemp(dir, "bare-*")
		if err != nil {
			return nil, err
		}
		if bare, err = bench.Bare(ctx, from, files, o); err != nil {
			return nil, err
		}
	}
	for _, o.Filter = range filters {
		blobs, err := os.MkdirTemp(dir, "blobs-*")
		if err != nil {
			return nil, err
		}
		r, err := bench.Import(ctx, from, blobs, o)
		if err != nil {
			return nil, err
		}
		r.Bare = bare
		all = append(all, r)
	}
	return all, nil
}

func writeImportRun(w io.Writer, r bench.ImportRun) {
	on := "off"
	if r.Filter {
		on = "on"
	}
	fmt.Fprintf(w, "filter %s, %d processors: %d records (%.1f MB) in %.1f s, %.0f a second; %d documents, %.1f a second; %d saved, %d differences\n",
		on, runtime.NumCPU(), r.Records, float64(r.Bytes)/1e6, r.Seconds, r.PerSecond, r.Documents, r.DocumentsPer, r.Counters.SavedNew, r.Differences)
	if r.Bare.Reading > 0 {
		fmt.Fprintf(w, "a bare loop that reads: %.0f a second (this is %.3f of it); that also writes: %.0f (%.3f)\n",
			r.Bare.Reading, r.PerSecond/r.Bare.Reading, r.Bare.Writing, r.PerSecond/r.Bare.Writing)
	}
	fmt.Fprintf(w, "most memory: %.0f MB\n%12s %12s %10s\n", float64(r.Peak)/1e6, "until", "records/s", "peak MB")
	for _, t := range r.Tenths {
		fmt.Fprintf(w, "%12d %12.0f %10.0f\n", t.Records, t.PerSecond, float64(t.Resident)/1e6)
	}
	fmt.Fprintln(w)
}
