package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/classify"
	"gleaner/internal/record/collections"
	"gleaner/internal/service/program"
	"gleaner/internal/synthesis"
	"gleaner/internal/topic"
	"gleaner/workflows"
)

// collectFlags are the options of `starter collect`.
type collectFlags struct {
	synthesis.Ask
	name, stops string
	learnt      map[string]string // file by topic
	parallel    int
	wait        bool
}

func (f *collectFlags) register(fl *pflag.FlagSet) {
	o := topic.Defaults()
	fl.StringVar(&f.name, "name", "", "name of the collections (default: the file's)")
	fl.IntVar(&f.Size, "size", o.Size, "entries of each topic's collection, which stops when it is full")
	fl.Float64Var(&f.Threshold, "threshold", o.Threshold, "correlation with its centroid from which a page belongs to a topic, above 0 and at most 1")
	fl.Float64Var(&f.Cutoff, "cutoff", o.Cutoff, "off-topic pages in a row that a path may hold")
	fl.IntVar(&f.Terms, "terms", o.Terms, "words of a centroid")
	fl.IntVar(&f.Overlap, "overlap", o.Overlap, "words that a page and a centroid have in common, at least")
	fl.IntVar(&f.Results, "results", o.Results, "results of the search that make a centroid")
	fl.IntVar(&f.LeastResults, "least-results", o.LeastResults, "pages without which a topic has no centroid")
	fl.IntVar(&f.MaxPages, "pages", 5000, "requests of the whole crawl (0: no limit)")
	fl.IntVar(&f.HostPages, "host-pages", 200, "requests to one host (0: no limit)")
	fl.DurationVar(&f.MaxTime, "time", 24*time.Hour, "how long the crawl may take (0: no limit)")
	fl.StringVar((*string)(&f.Policy), "policy", string(synthesis.BestFirst), "which links come next: bfs, in the order they are met; best, of the pages most on topic; gleaner, by the words of the link and the way to it, too, through up to five pages off topic")
	fl.IntVar(&f.parallel, "parallel", 4, "hosts asked at a time")
	fl.StringVar(&f.stops, "stop-lists", "", "YAML file of words, links and urls that are passed over, in place of the program's lists")
	fl.StringToStringVar(&f.learnt, "classifier", nil, "TOPIC=FILE: a classifier of 'lab train topic' decides what is about a topic, in place of its centroid")
	fl.BoolVar(&f.Overlapping, "overlapping", false, "a page belongs to every topic that it is like, not to the best alone")
	fl.BoolVar(&f.LearnIDF, "learn-idf", false, "document frequencies are those of the crawled pages, too")
	fl.BoolVar(&f.OffSite, "off-site", false, "links to other hosts first")
	fl.BoolVar(&f.Distinct, "distinct", false, "near-duplicates are neither collected nor followed")
	fl.BoolVar(&f.OnePerSite, "one-per-site", false, "a collection has one entry of a site, the best")
	fl.BoolVar(&f.Adapt, "adapt", false, "threshold and cutoff adapt: a full collection goes on, and a better page puts out its worst")
	fl.BoolVar(&f.wait, "wait", false, "wait until the collections are made")
}

func (c *cli) collectCommand() *cobra.Command {
	f := &collectFlags{}
	cmd := &cobra.Command{Use: "collect TOPICS", Short: "Make collections by topic: a search for each topic, then a crawl over many hosts", Args: args(1, "a file of topics"),
		Long: `Make a collection of pages and papers for each topic of a file (Bergmark's Collection
Synthesis). A topic is a search; of the first pages that it finds the topic's centroid
is made, its weightiest words. A crawl then goes from these pages over many hosts, to
links of the pages first that are most on topic, at the pace of each host. The file
is YAML or JSON:

    topics:
      - name: mathematics
        topics:
          - {name: number theory, query: prime numbers congruences}
          - {name: graphs, pages: ["https://graphs.example/"]}

The same command goes on with collections that ended, under other options.`,
		Example: "  starter collect topics.yaml --wait\n  starter collect topics.yaml --name math --size 200 --threshold 0.3 --cutoff 1 --off-site --one-per-site",
		RunE:    func(cmd *cobra.Command, args []string) error { return c.collect(cmd.Context(), args[0], f) }}
	f.register(cmd.Flags())
	return cmd
}

// read reads the topics and the lists, and checks all that was given.
func (f *collectFlags) read(file string) ([]topic.Topic, error) {
	wrong := func(err error) error { return fmt.Errorf("%w: %w", program.ErrUsage, err) }
	raw, err := readBounded(file)
	if err != nil {
		return nil, wrong(err)
	}
	topics, err := topic.Parse(raw)
	if err != nil {
		return nil, wrong(fmt.Errorf("%s: %w", file, err))
	}
	if f.Stops, err = topic.DefaultStops(); err != nil {
		return nil, err
	}
	if f.stops != "" {
		if raw, err = readBounded(f.stops); err != nil {
			return nil, wrong(err)
		}
		if f.Stops, err = topic.ParseStops(raw); err != nil {
			return nil, wrong(err)
		}
	}
	if err := f.readLearnt(topics); err != nil {
		return nil, wrong(err)
	}
	if f.name == "" {
		f.name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	}
	if n := len(f.name); n == 0 || n > longestName || strings.ContainsFunc(f.name, unicode.IsControl) {
		return nil, wrong(fmt.Errorf("name: %q is not a name of 1 to %d bytes", f.name, longestName))
	}
	if f.parallel < 1 || f.parallel > 100 {
		return nil, wrong(fmt.Errorf("parallel: %d is not between 1 and 100", f.parallel))
	}
	if err := f.Check(); err != nil {
		return nil, wrong(err)
	}
	return topics, nil
}

const (
	longestName = 200      // bytes of a collection's name, which is part of a workflow's id
	largestFile = 64 << 20 // of topics, lists or a classifier, which the record keeps
)

// readBounded reads a file that the user names.
func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file) // #nosec G304 -- the user names it
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, largestFile+1))
	if err == nil && len(raw) > largestFile {
		err = fmt.Errorf("%s: has more than %d bytes", file, largestFile)
	}
	return raw, err
}

// readLearnt reads the classifiers of topics.
func (f *collectFlags) readLearnt(topics []topic.Topic) error {
	f.Learnt = map[string]*classify.Classifier{}
	for name, file := range f.learnt {
		if !slices.ContainsFunc(topics, func(t topic.Topic) bool { return t.ID == name }) {
			return fmt.Errorf("classifier: no topic is called %q", name)
		}
		raw, err := readBounded(file)
		if err != nil {
			return fmt.Errorf("classifier: %w", err)
		}
		k := &classify.Classifier{}
		if err := json.Unmarshal(raw, k); err != nil {
			return fmt.Errorf("classifier: %s: %w", file, err)
		}
		if err := k.Check(); err != nil {
			return fmt.Errorf("classifier: %s: %w", file, err)
		}
		f.Learnt[name] = k
	}
	return nil
}

func (c *cli) collect(ctx context.Context, file string, f *collectFlags) error {
	topics, err := f.read(file)
	if err != nil {
		return err
	}
	a, err := c.Record(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	t, err := c.temporal(ctx)
	if err != nil {
		return err
	}
	defer t.Close()
	record := collections.In(a.DB)
	running, err := record.Ask(ctx, f.name, f.Ask, topics)
	if err != nil {
		return err
	}
	if running {
		fmt.Fprintf(c.Err, "hint: %s is being made already, under the options that it was begun with; `starter collections cancel %s` ends it, and the same command goes on under others\n", f.name, f.name)
	}
	told := workflows.TellCollection(f.name)
	id := workflows.CollectionsID(f.name)
	_, err = t.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: activities.QueueHarvest, StaticSummary: told.Summary, StaticDetails: told.Details,
		WorkflowTaskTimeout: workflows.TaskTime, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING},
		workflows.SynthesizeCollections, workflows.CollectParams{Name: f.name, Parallel: f.parallel})
	if err != nil {
		return err
	}
	if !f.wait {
		return c.Print(map[string]any{"collections": f.name, "workflow": id}, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "collections %s are being made; `starter collections show %s` shows how far they are\n", f.name, f.name)
			return err
		})
	}
	return c.followCollection(ctx, t, record, f.name)
}
