package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gleaner/internal/lab/bench"
	"gleaner/internal/service/program"
)

// documentFlags are the options of `lab bench documents`.
type documentFlags struct {
	benchFlags
	dir       string
	documents int
	filter    string
	whole     bool
	workers   []int
	wanted    int
}

// benchDocumentsCommand measures what is done with files. It has a hidden
// command beneath it, which is the worker process.
func (c *cli) benchDocumentsCommand() *cobra.Command {
	f := &documentFlags{}
	cmd := &cobra.Command{Use: "documents", Short: "Documents a second through all steps, as workers grow", Args: cobra.NoArgs,
		Long: `Take documents in through all steps (unpack, store, text, filter, match, copies,
sidecars, row), with the filter on and off, and with one, two and four worker
processes, each of which reads one at a time. The table says how many documents a second that is, and per second of processor
time (Postgres and the readers' children included), and how much memory it takes.

The documents are generated, or files of a folder, evenly chosen. Without the filter
no file is read. Of most documents the first pages and the last are read;
--whole-text reads all.`,
		Example: "  lab bench documents\n  lab bench documents --dir ~/papers --documents 250 --filter on --workers 2\n" +
			"  lab bench documents --dir ~/papers --workers 2 --whole-text --json",
		RunE: func(cmd *cobra.Command, _ []string) error { return c.benchDocuments(cmd.Context(), f) }}
	fl := cmd.Flags()
	fl.StringVar(&f.dir, "dir", "", "take the documents below this folder (default: generated ones)")
	fl.IntVar(&f.documents, "documents", 0, "how many (default: 400 generated ones, or all of the folder)")
	fl.StringVar(&f.filter, "filter", "both", "on (read, filter and match), off (store and record) or both")
	fl.BoolVar(&f.whole, "whole-text", false, "read all text of every document, as the setting of that name does")
	fl.IntSliceVar(&f.workers, "workers", []int{1, 2, 4}, "worker processes, a run each")
	fl.IntVar(&f.wanted, "wanted", 10000, "wanted papers to match with")
	cmd.AddCommand(&cobra.Command{Use: "worker", Hidden: true, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return c.benchDocumentsWorker(cmd.Context()) }})
	return cmd
}

// filters says with the filter on, off or both in turn.
func (f *documentFlags) filters() ([]bool, error) {
	filters, ok := map[string][]bool{"on": {true}, "off": {false}, "both": {true, false}}[f.filter]
	below1 := func(n int) bool { return n < 1 }
	if !ok || len(f.workers) == 0 || slices.ContainsFunc(f.workers, below1) || f.documents < 0 || f.wanted < 1 {
		return nil, fmt.Errorf("%w: --filter is on, off or both; --workers and --wanted are 1 or more", program.ErrUsage)
	}
	return filters, nil
}

func (c *cli) benchDocuments(ctx context.Context, f *documentFlags) error {
	filters, err := f.filters()
	if err != nil {
		return err
	}
	files, remove, err := f.files(ctx)
	if err != nil {
		return err
	}
	defer remove()
	stop, err := c.benchServer(ctx, &f.benchFlags)
	if err != nil {
		return err
	}
	defer stop()
	all := []bench.DocumentsRun{}
	o := bench.DocumentsOptions{DatabaseURL: f.options.DatabaseURL, DatabaseCPU: f.options.DatabaseCPU, Files: files, Workers: f.workers,
		Wanted: f.wanted, Whole: f.whole, Start: startDocumentsWorker}
	o.Report = func(r bench.DocumentsRun) {
		all = append(all, r)
		if !c.JSON {
			writeDocumentRun(c.Out, r)
		}
	}
	if !c.JSON {
		c.writeDocumentHead(f, len(files))
	}
	for _, o.Filter = range filters {
		if err := bench.Documents(ctx, o); err != nil {
			return err
		}
	}
	if c.JSON {
		return c.Print(all, nil)
	}
	writeDocumentStates(c.Out, all[0])
	return nil
}

// files are those of the folder, or generated ones.
func (f *documentFlags) files(ctx context.Context) ([]string, func(), error) {
	if f.dir != "" {
		files, err := bench.DocumentFiles(f.dir)
		if err != nil || len(files) == 0 {
			return nil, nil, fmt.Errorf("%w: --dir %s: no documents (%v)", program.ErrUsage, f.dir, err)
		}
		if n := f.documents; n > 0 && n < len(files) {
			// Evenly: what stands together in a folder is of one kind.
			chosen := make([]string, n)
			for i := range chosen {
				chosen[i] = files[i*len(files)/n]
			}
			files = chosen
		}
		return files, func() {}, nil
	}
	f.documents = cmp.Or(f.documents, 400)
	dir, err := os.MkdirTemp("", "gleaner-bench-files-*")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { _ = os.RemoveAll(dir) }
	files, err := bench.WritePile(ctx, dir, f.documents)
	if err != nil {
		remove()
	}
	return files, remove, err
}

// startDocumentsWorker runs a share in a process of its own.
func startDocumentsWorker(ctx context.Context, s bench.DocumentsShare) (bench.DocumentsResult, error) {
	var r bench.DocumentsResult
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	in, err := json.Marshal(s)
	if err != nil {
		return r, err
	}
	cmd := exec.CommandContext(ctx, self, "bench", "documents", "worker")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("worker process: %w", err)
	}
	return r, json.Unmarshal(out, &r)
}

func (c *cli) benchDocumentsWorker(ctx context.Context) error {
	var s bench.DocumentsShare
	if err := json.NewDecoder(os.Stdin).Decode(&s); err != nil {
		return err
	}
	runtime.GOMAXPROCS(2) // one for the documents, and one for the runtime
	r, err := bench.TakeIn(ctx, s, c.Child)
	if err != nil {
		return err
	}
	return json.NewEncoder(c.Out).Encode(r)
}

func (c *cli) writeDocumentHead(f *documentFlags, n int) {
	from := "generated"
	if f.dir != "" {
		from = "of " + f.dir
	}
	fmt.Fprintf(c.Out, "%d documents %s, %d wanted papers, %d processors\n\n", n, from, f.wanted, runtime.NumCPU())
	fmt.Fprintf(c.Out, "%-6s %8s %8s %11s %11s %10s %10s %8s %9s %8s %6s\n", "filter", "workers", "docs/s",
		"docs/core s", "worker CPU", "readers", "Postgres", "peak MB", "reader MB", "disk MB", "found")
}

func writeDocumentRun(w io.Writer, r bench.DocumentsRun) {
	on := "off"
	if r.Filter {
		on = "on"
	}
	fmt.Fprintf(w, "%-6s %8d %8.1f %11.1f %9.1f s %8.1f s %8.1f s %8.0f %9.0f %8.0f %6d\n", on, r.Workers, r.PerSec, r.PerCore,
		r.CPU, r.ChildCPU, r.DatabaseCPU, float64(r.Peak)/1e6, float64(r.ChildPeak)/1e6, float64(r.Database)/1e6, r.Found)
}

// writeDocumentStates says what became of the documents.
func writeDocumentStates(w io.Writer, r bench.DocumentsRun) {
	var states []string
	for s, n := range r.States {
		states = append(states, fmt.Sprintf("%d %s", n, s))
	}
	slices.Sort(states)
	fmt.Fprintf(w, "\n%s; %d copies of another\n", strings.Join(states, ", "), r.Copies)
}
