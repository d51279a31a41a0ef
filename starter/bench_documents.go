package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gleaner/internal/app"
	"gleaner/internal/bench"
)

// documentFlags are the options of `starter bench documents`.
type documentFlags struct {
	benchFlags
	dir       string
	documents int
	filter    string
	workers   []int
	parallel  int
	wanted    int
}

// benchDocumentsCommand measures what is done with files. It has a hidden
// command beneath it, which is the worker process.
func (c *cli) benchDocumentsCommand() *cobra.Command {
	f := &documentFlags{}
	cmd := &cobra.Command{Use: "documents", Short: "Documents a second through all steps, as workers and documents grow", Args: cobra.NoArgs,
		Long: `Take documents in through all steps (unpack, store, text, filter, match, copies,
sidecars, row) with so many worker processes, and with the filter on and off, and
say how many a second that is, how much processor time and memory each takes, and
how this changes as the record grows. The documents are generated, or the files
of a folder.`,
		Example: "  starter bench documents\n  starter bench documents --dir ~/papers --workers 1,2,4\n  starter bench documents --documents 100000 --filter off --workers 2",
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.benchDocuments(cmd.Context(), f) }}
	fl := cmd.Flags()
	fl.StringVar(&f.dir, "dir", "", "take the documents below this folder (default: generated ones)")
	fl.IntVar(&f.documents, "documents", 0, "how many (default: 400 generated ones, or all of the folder)")
	fl.StringVar(&f.filter, "filter", "both", "on (read, filter and match), off (store and record) or both")
	fl.IntSliceVar(&f.workers, "workers", []int{1, 2, 4}, "worker processes, a run each")
	fl.IntVar(&f.parallel, "parallel", 1, "documents that each process reads at a time; 0 shares the processors out")
	fl.IntVar(&f.wanted, "wanted", 10000, "wanted papers to match with")
	fl.StringVar(&f.cpu, "cpuprofile", "", "write a CPU profile of the first process of each run to this file")
	fl.BoolVar(&f.relaxed, "relaxed", false, "let commits return before they are on disk (synchronous_commit off)")
	cmd.AddCommand(&cobra.Command{Use: "worker", Hidden: true, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return c.benchDocumentsWorker(cmd.Context()) }})
	return cmd
}

func (c *cli) benchDocuments(ctx context.Context, f *documentFlags) error {
	filters, ok := map[string][]bool{"on": {true}, "off": {false}, "both": {true, false}}[f.filter]
	if !ok || slices.ContainsFunc(f.workers, func(n int) bool { return n < 1 }) || f.documents < 0 || f.wanted < 1 {
		return fmt.Errorf("%w: --filter is on, off or both; --workers and --wanted are 1 or more", errUsage)
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
	var all []bench.DocumentsRun
	for _, filter := range filters {
		o := bench.DocumentsOptions{DatabaseURL: f.options.DatabaseURL, DatabaseCPU: f.options.DatabaseCPU, Files: files, Workers: f.workers,
			Parallel: f.parallel, Filter: filter, Wanted: f.wanted, Start: f.worker}
		runs, err := bench.Documents(ctx, o)
		if err != nil {
			return err
		}
		all = append(all, runs...)
	}
	return c.print(all, func(w io.Writer) error { return writeDocumentRuns(w, f, all) })
}

// files are those of the folder, or generated ones.
func (f *documentFlags) files(ctx context.Context) ([]string, func(), error) {
	if f.dir != "" {
		files, err := bench.DocumentFiles(f.dir)
		if err != nil || len(files) == 0 {
			return nil, nil, fmt.Errorf("%w: --dir %s: no documents (%v)", errUsage, f.dir, err)
		}
		if f.documents > 0 && f.documents < len(files) {
			files = files[:f.documents]
		}
		return files, func() {}, nil
	}
	if f.documents == 0 {
		f.documents = 400
	}
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

// worker runs a share in a process of its own.
func (f *documentFlags) worker(ctx context.Context, s bench.DocumentsShare) (bench.DocumentsResult, error) {
	var r bench.DocumentsResult
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	if s.Share == 0 {
		s.Profile = f.cpu
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
	runtime.GOMAXPROCS(s.Parallel + 1) // the share of one worker, and one for the runtime
	if s.Profile != "" {
		out, err := os.Create(filepath.Clean(s.Profile))
		if err != nil {
			return err
		}
		defer out.Close()
		if err := pprof.StartCPUProfile(out); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	r, err := bench.TakeIn(ctx, s, app.ReadingOf(ctx).Child)
	if err != nil {
		return err
	}
	return json.NewEncoder(c.out).Encode(r)
}

func writeDocumentRuns(w io.Writer, f *documentFlags, runs []bench.DocumentsRun) error {
	from := "generated"
	if f.dir != "" {
		from = "of " + f.dir
	}
	fmt.Fprintf(w, "%d documents %s, %d wanted papers, %d processors\n\n", runs[0].Documents, from, f.wanted, runtime.NumCPU())
	fmt.Fprintf(w, "%-7s %8s %9s %8s %10s %11s %10s %9s %9s %9s %8s %7s\n", "filter", "workers", "parallel", "docs/s", "docs/core s", "worker CPU", "readers", "Postgres", "peak MB", "reader MB", "disk MB", "found")
	for _, r := range runs {
		on := "off"
		if r.Filter {
			on = "on"
		}
		fmt.Fprintf(w, "%-7s %8d %9d %8.1f %10.1f %9.1f s %8.1f s %7.1f s %9.0f %9.0f %8.0f %7d\n", on, r.Workers, r.Parallel, r.PerSec, r.PerCore,
			r.CPU, r.ChildCPU, r.DatabaseCPU, float64(r.Peak)/1e6, float64(r.ChildPeak)/1e6, float64(r.Database)/1e6, r.Found)
	}
	last := runs[0]
	var states []string
	for s, n := range last.States {
		states = append(states, fmt.Sprintf("%d %s", n, s))
	}
	slices.Sort(states)
	fmt.Fprintf(w, "\n%s; %d copies of another\n", strings.Join(states, ", "), last.Copies)
	for _, r := range runs {
		for _, g := range r.Growth {
			fmt.Fprintf(w, "filter %-5t workers %d: %7d rows  %7.1f docs/s  %6.0f MB\n", r.Filter, g.Workers, g.Rows, g.PerSec, float64(g.Database)/1e6)
		}
	}
	return nil
}
