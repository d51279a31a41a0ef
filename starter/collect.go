package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"

	"gleaner/internal/classify"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/rank"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/topic"
	"gleaner/internal/topic/seeds"
	"gleaner/workflows"
)

// collectFlags are the options of `starter collect`.
type collectFlags struct {
	synthesis.Request
	name, stops string
	words       string            // file of them
	venues      []string          // whose papers stand for a topic
	given       []topic.Topic     // in place of a file and of venues
	seeds       []string          // files
	directory   seeds.Found       // what is in them
	learnt      map[string]string // file by topic
	labelled    map[string][]collections.Example
	departments bool
	wait        bool
	links       linkFlags

	settings *pflag.FlagSet
	set      []string // NAME=VALUE
	example  bool
}

// register makes the settings of collections: what a file may hold beside its topics, and
// --set may change. The commonest are flags, too.
func (f *collectFlags) register(fl *pflag.FlagSet) {
	f.settings = fl
	o := topic.Defaults()
	fl.StringVar(&f.name, "name", "", "name of the collections; by default that of the file, or of the venues")
	fl.IntVar(&f.Size, "size", o.Size, "entries of each topic's collection: the best of all that the crawl reads (adapt: false: the first, and the crawl ends when all are full)")
	fl.Float64Var(&f.Threshold, "threshold", o.Threshold, "correlation with its centroid from which a page belongs to a topic, above 0 and at most 1")
	fl.IntVar(&f.MaxPages, "pages", 5000, "requests of the whole crawl, with those of earlier runs of the same collections; 0 is no limit")
	durationVar(fl, &f.MaxTime, "time", 24*time.Hour, "how long the crawl may take, with earlier runs of the same collections; 0s is no limit")
	fl.StringVar((*string)(&f.Policy), "policy", string(synthesis.BestFirst), "which links come next: bfs, in the order they are met; best, of the pages most on topic; graph, of those, then of pages like those that led to such; gleaner, by the words of the link and the way to it, too, through up to five pages off topic")
	fl.Float64Var(&f.Certainty, "certainty", o.Certainty, "score of its classifier from which a page belongs to a topic, above 0 and below 1")
	fl.Float64Var(&f.Cutoff, "cutoff", o.Cutoff, "off-topic pages in a row that a path may hold")
	fl.IntVar(&f.Terms, "terms", o.Terms, "words of a centroid")
	fl.IntVar(&f.Overlap, "overlap", o.Overlap, "words that a page and a centroid have in common, at least")
	fl.IntVar(&f.Results, "results", o.Results, "results of the search that make a centroid")
	fl.IntVar(&f.LeastResults, "least-results", o.LeastResults, "pages without which a topic has no centroid")
	fl.IntVar(&f.HostPages, "host-pages", 200, "requests to one host; 0 is no limit")
	fl.IntVar(&f.DomainPages, "domain-pages", 1000, "requests to all hosts of one registrable domain; 0 is no limit")
	fl.Float64Var(&f.DomainShare, "domain-share", 0.5, "share of a collection that may come from one registrable domain, above 0 and at most 1")
	fl.IntVar(&f.Parallel, "parallel", 4, "hosts asked at a time")
	fl.StringVar(&f.stops, "stop-lists", "", "YAML file of words, links and urls that are passed over, in place of the program's lists")
	fl.BoolVar(&f.Inspect, "inspect", false, "follow links by their words: from pages about a topic all but such as 'home' and 'next', from others those alone that lead on, such as 'research', and those to departments")
	fl.BoolVar(&f.departments, "departments", true, "links to the topics' departments (a part of the host's name, or a directory) go before others under the policy graph, and pass inspect")
	fl.StringVar(&f.words, "link-lists", "", "YAML file of the words for inspect (pruning_anchors, extracting_anchors), in place of the program's")
	fl.BoolVar(&f.LearnLinks, "learn-links", false, "with inspect: learn more such words from the crawl, by where links with them led on several sites")
	fl.StringSliceVar(&f.seeds, "seeds", nil, "tables of web directories (CSV or TSV with the columns url and category; packed with gzip or not): the crawl begins at the pages of the topics' categories, too")
	fl.IntVar(&f.SearchSeeds, "search-seeds", 0, "results of each search for a topic, at most 200, at which the crawl begins, beside those that make the centroid: by its query, its name and that of the topic above it, its queries in the file, and the words of a venue's titles")
	fl.StringToStringVar(&f.learnt, "classifier", nil, "TOPIC: FILE, a classifier of 'lab train topic' that decides what is about a topic, in place of its centroid")
	fl.IntVar(&f.Retrain, "retrain", 0, "pages and documents after which each classifier learns anew, from its labelled pages, those that 'starter collections judge' names, and those that it is certain of; 0 is never")
	fl.BoolVar(&f.Overlapping, "overlapping", false, "a page belongs to every topic that it is like, not to the best alone")
	fl.BoolVar(&f.LearnIDF, "learn-idf", false, "document frequencies are those of the crawled pages, too")
	fl.BoolVar(&f.OffSite, "off-site", false, "links to other hosts first")
	fl.BoolVar(&f.Distinct, "distinct", false, "near-duplicates are neither collected nor followed")
	fl.BoolVar(&f.OnePerSite, "one-per-site", false, "a collection has one entry of a site, the best")
	fl.BoolVar(&f.Adapt, "adapt", true, "threshold and cutoff adapt: a full collection goes on, and a better page puts out its worst")
	fl.StringSliceVar(&f.Patterns, "url-patterns", nil, "parts of the inspection of URL patterns: "+strings.Join(synthesis.Patterns(), ", ")+" (a site is left where fewer than 5 % of 200 pages or more were on topic)")
	fl.BoolVar(&f.WARC, "warc", false, warcHelp)
	f.links.register(fl)
}

func collectCommand(c *cli) *cobra.Command {
	f := &collectFlags{}
	f.register(pflag.NewFlagSet("collect", pflag.ContinueOnError))
	cmd := &cobra.Command{Use: "collect TOPICS", Short: "Make collections by topic: a search for each topic, then a crawl over many hosts",
		Args: func(_ *cobra.Command, got []string) error {
			if !f.example && (len(got) > 1 || (len(got) == 1) == (len(f.venues) > 0)) {
				return fmt.Errorf("%w: want a file of topics, or --from-venue", program.ErrUsage)
			}
			return nil
		},
		Long: `Make a collection of pages and papers for each topic of a file (Bergmark's Collection
Synthesis). A topic is a search; the heaviest words of the first pages found are the
topic's centroid. A crawl then goes from these pages over many hosts, to links of the
pages first that are most on topic, at the pace of each host.

The file is YAML or JSON. It holds the topics and the settings of their collections;
--example prints one with every setting, what it is and its default. The commonest
settings are flags, too; --set changes any other. Files that it names are looked for in
the folder in which the command is given.

The same command goes on with collections that ended, under other settings.`,
		Example: "  starter collect --example > topics.yaml\n  starter collect topics.yaml --wait\n  starter collect topics.yaml --name math --size 200 --set cutoff=1 --set off-site=true\n  starter collect --from-venue conf/webdb --wait",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.example {
				return f.writeExample(c.Out)
			}
			return c.collect(cmd.Context(), strings.Join(args, ""), f)
		}}
	for _, name := range []string{"name", "size", "threshold", "pages", "time", "policy"} {
		cmd.Flags().AddFlag(f.settings.Lookup(name))
	}
	cmd.Flags().StringSliceVar(&f.venues, "from-venue", nil, "in place of a file: a topic for each of these venues, of the papers that were found of it, such as conf/webdb")
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "a setting of the file, NAME=VALUE; may be given again")
	cmd.Flags().BoolVar(&f.example, "example", false, "print a file with every setting, what it is and its default")
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait until the collections are made")
	return cmd
}

// read reads the topics and the lists, and checks all that was given.
func (f *collectFlags) read(file string) ([]topic.Topic, error) {
	wrong := func(err error) error { return fmt.Errorf("%w: %w", program.ErrUsage, err) }
	topics, err := f.topics(file)
	if err != nil {
		return nil, wrong(err)
	}
	f.name = cmp.Or(f.name, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	if f.Stops, err = topic.DefaultStops(); err != nil {
		return nil, err
	}
	if f.stops != "" {
		raw, err := readBounded(f.stops)
		if err != nil {
			return nil, wrong(err)
		}
		if f.Stops, err = topic.ParseStops(raw); err != nil {
			return nil, wrong(err)
		}
	}
	if f.Links, err = f.links.lists(); err != nil {
		return nil, err
	}
	for _, read := range []func([]topic.Topic) error{f.readWords, f.readLearnt, f.readSeeds, f.beginAtLabelled} {
		if err := read(topics); err != nil {
			return nil, wrong(err)
		}
	}
	if n := len(f.name); n == 0 || n > longestName || strings.ContainsFunc(f.name, unicode.IsControl) {
		return nil, wrong(fmt.Errorf("name: %q is not a name of 1 to %d bytes", f.name, longestName))
	}
	if f.Parallel < 1 || f.Parallel > 100 {
		return nil, wrong(fmt.Errorf("parallel: %d is not between 1 and 100", f.Parallel))
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

// readWords reads the words by which links are followed, where they are.
func (f *collectFlags) readWords([]topic.Topic) error {
	f.NoDepartments = !f.departments
	if !f.Inspect && f.words != "" {
		return errors.New("link-lists: links are followed by their words with inspect alone")
	}
	if !f.Inspect {
		return nil
	}
	words, err := rank.DefaultLists()
	if err != nil {
		return err
	}
	if f.words != "" {
		raw, err := readBounded(f.words)
		if err != nil {
			return err
		}
		own, err := rank.ParseLists(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", f.words, err)
		}
		words = words.Override(own)
	}
	f.Pruning, f.Extracting = words.PruningAnchors, words.ExtractingAnchors
	return nil
}

// readSeeds reads the pages of the topics' categories.
func (f *collectFlags) readSeeds(topics []topic.Topic) error {
	finder := seeds.NewFinder(topics)
	for _, file := range f.seeds {
		dump, err := os.Open(file) // #nosec G304 -- the user names it
		if err != nil {
			return fmt.Errorf("seeds: %w", err)
		}
		err = finder.Read(dump)
		_ = dump.Close()
		if err != nil {
			return fmt.Errorf("seeds: %s: %w", file, err)
		}
	}
	f.Seeds, f.directory = finder.Of, finder.Found
	if len(f.seeds) > 0 && len(f.Seeds) == 0 {
		return fmt.Errorf("seeds: none of %d entries is in a category of a topic: one that bears its name, or is named by its `categories` in the file of topics", finder.Entries)
	}
	return nil
}

// readLearnt reads the classifiers of topics. The labelled pages in their files are kept
// apart: slices have no use for them.
func (f *collectFlags) readLearnt(topics []topic.Topic) error {
	f.Classifiers, f.labelled = map[string]*classify.Classifier{}, map[string][]collections.Example{}
	for name, file := range f.learnt {
		if !slices.ContainsFunc(topics, func(t topic.Topic) bool { return t.ID == name }) {
			return fmt.Errorf("classifier: no topic is called %q", name)
		}
		raw, err := readBounded(file)
		if err != nil {
			return fmt.Errorf("classifier: %w", err)
		}
		k, err := classify.Parse(raw)
		if err != nil {
			return fmt.Errorf("classifier: %s: %w", file, err)
		}
		if f.Retrain > 0 && len(k.Pages) == 0 {
			return fmt.Errorf("retrain: %s holds no labelled pages; 'lab train topic' writes them into it", file)
		}
		for _, p := range k.Pages {
			f.labelled[name] = append(f.labelled[name], collections.Example{URL: p.URL, About: p.Topic, Words: p.Words})
		}
		k.Pages = nil
		f.Classifiers[name] = k
	}
	return nil
}

// checkVenues says which of the venues named has no paper on record, of which a topic could be
// made.
func (f *collectFlags) checkVenues(ctx context.Context, db store.PaperRecords) error {
	for _, venue := range f.venues {
		titles, err := db.VenueTitles(ctx, venue, 1)
		if err != nil {
			return err
		}
		if len(titles) == 0 {
			return fmt.Errorf("%w: --from-venue %s: no paper of it is on record; harvest it first (`starter status` lists what was)", program.ErrUsage, venue)
		}
	}
	return nil
}

func (c *cli) collect(ctx context.Context, file string, f *collectFlags) error {
	topics, err := f.read(file)
	if err != nil {
		return err
	}
	return c.withBoth(ctx, func(a *app.App, t client.Client) error {
		record := collections.In(a.DB)
		run, running, err := f.ask(ctx, a.DB, topics)
		if err != nil {
			return err
		}
		if d := f.directory; d.Entries > 0 {
			fmt.Fprintf(c.Err, "%d of %d entries are in categories of the topics (%d no web pages, %d could not be read); seeds for %d of %d topics\n", d.Met, d.Entries, d.Left, d.Broken, len(d.Of), len(topics))
		}
		if running {
			fmt.Fprintf(c.Err, "hint: %s is being made already, under the options that it was begun with; `starter cancel collections/%s` ends it, and the same command goes on under others\n", f.name, f.name)
		}
		if err := hintLimits(ctx, c, record, f); err != nil {
			return err
		}
		id := workflows.CollectionsID(f.name)
		if err := beginCollection(ctx, t, workflows.CollectParams{Name: f.name, Run: run, Parallel: f.Parallel}, running); err != nil {
			return err
		}
		hintNoWorker(ctx, c, t)
		if !f.wait {
			return c.Say(map[string]any{"collections": f.name, "workflow": id}, "collections %s are being made; `starter collections show %s` shows how far they are\n", f.name, f.name)
		}
		return followCollection(ctx, c, t, record, f.name)
	})
}

// ask writes to the record what collections are asked for, and returns the run that makes them; running reports
// whether they are being made already.
func (f *collectFlags) ask(ctx context.Context, db *store.DB, topics []topic.Topic) (run int, running bool, err error) {
	if err := f.checkVenues(ctx, db.PaperRecords); err != nil {
		return 0, false, err
	}
	record := collections.In(db)
	run, running, err = record.Submit(ctx, f.name, f.Request, topics)
	if err == nil && !running {
		err = f.teach(ctx, record)
	}
	return run, running, err
}

// hintLimits says which limits earlier runs used up.
func hintLimits(ctx context.Context, c *cli, record *collections.Record, f *collectFlags) error {
	got, err := record.Brief(ctx, f.name)
	if err != nil {
		return err
	}
	at, err := record.State(ctx, got.ID)
	if err != nil {
		return err
	}
	if f.MaxPages > 0 && at.Requests >= f.MaxPages {
		fmt.Fprintf(c.Err, "hint: earlier runs of %s made %d requests, of --pages %d for all of them; more with a higher --pages\n", f.name, at.Requests, f.MaxPages)
	}
	if f.MaxTime > 0 && at.Took >= f.MaxTime {
		fmt.Fprintf(c.Err, "hint: earlier runs of %s took %s, of --time %s for all of them; more with a higher --time\n", f.name, at.Took.Round(time.Second), f.MaxTime)
	}
	return nil
}

// teach gives a collection the labelled pages from which its classifiers learn anew.
func (f *collectFlags) teach(ctx context.Context, record *collections.Record) error {
	if f.Retrain == 0 {
		return nil
	}
	got, err := record.Get(ctx, f.name)
	if err != nil {
		return err
	}
	for t, pages := range f.labelled {
		if err := record.SetExamples(ctx, got.ID, t, pages); err != nil {
			return err
		}
	}
	return nil
}

// beginCollection starts the making of collections. Where the record says that they are
// not being made, but a run is about to end, that run is told to go round again.
func beginCollection(ctx context.Context, t client.Client, p workflows.CollectParams, running bool) error {
	id := workflows.CollectionsID(p.Name)
	options := startOptions(id, workflows.DescribeCollection(p.Name))
	if running {
		_, err := t.ExecuteWorkflow(ctx, options, workflows.SynthesizeCollections, p)
		return err
	}
	_, err := t.SignalWithStartWorkflow(ctx, id, workflows.SignalAskedAgain, p, options, workflows.SynthesizeCollections, p)
	return err
}
