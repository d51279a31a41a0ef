package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/each"
	"gleaner/internal/harvest/stats"
	"gleaner/internal/ingest"
	"gleaner/internal/lab/bench"
	"gleaner/internal/lab/evaluate"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
)

// paper is one whose tables are made again.
type paper struct {
	Name    string         `json:"paper"`
	Differs string         `json:"differs"` // in the data
	Rows    []evaluate.Row `json:"rows"`

	rows func(context.Context) ([]evaluate.Row, error)
}

func (c *cli) papersCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{Use: "papers [PAPER…]", Short: "Make the tables of the papers again, theirs beside ours",
		Args: cobra.OnlyValidArgs, ValidArgs: []string{"zhuang", "whitelist", "cdi", "bergmark", "chen"},
		Long: `Make the tables of the papers again from which the methods come: zhuang (JCDL 2005),
whitelist (Wu et al., WebSci 2012), cdi (Wu et al., WIDM 2012), bergmark (JCDL 2002) and chen
(2008). Each figure of a paper stands beside ours. Without --data sites are generated, and
what needs recorded ones says so. Labelled pages are those of the checkout in which it runs.`,
		Example: "  lab papers\n  lab papers zhuang --data DIR",
		RunE: func(cmd *cobra.Command, names []string) error {
			var out []paper
			for _, p := range c.papers(data) {
				if len(names) > 0 && !slices.Contains(names, p.Name) {
					continue
				}
				var err error
				if p.Rows, err = p.rows(cmd.Context()); err != nil {
					return fmt.Errorf("%s: %w", p.Name, err)
				}
				if out = append(out, p); !c.JSON { // each as it is made: all take minutes
					if err := evaluate.WriteRows(c.Out, p.Name+": "+p.Differs, p.Rows); err != nil {
						return err
					}
				}
			}
			return c.Print(out, func(io.Writer) error { return nil })
		}}
	cmd.Flags().StringVar(&data, "data", os.Getenv("GLEANER_SHARED"), "folder with recorded sites (farm, atlas) and their labels (truth)")
	return cmd
}

func (c *cli) papers(data string) []paper {
	m := &papersMade{cli: c, data: data}
	differs := [...]string{
		"recorded sites, each crawled from its root, homepages known; Nutch is breadth-first with 100 links a page",
		"recorded sites of which half of the documents are on record; nothing is known of their citations",
		"generated records, each tenth a PDF, and the recorded sites as a mirror; a field is that of the site of known papers",
		"tables 10 and 11 of recorded pages on computer science or not, the others on generated webs",
	}
	if data == "" {
		const web = "a generated web: a conference all of whose documents are papers, and homepages, which are known"
		differs = [...]string{
			web + "; each fourth paper is held",
			web + "; half of the documents are on record; a paper is cited once a year",
			"generated records, each tenth a PDF, and a generated web as WARC; accepted by field needs recorded sites",
			"generated webs, whose words part better than real ones",
		}
	}
	const topics = "generated webs of five topics, a small one and one shaped as recorded sites"
	return []paper{
		{Name: "zhuang", Differs: differs[0], rows: m.zhuang},
		{Name: "whitelist", Differs: differs[1], rows: m.whitelist},
		{Name: "cdi", Differs: differs[2], rows: m.cdi},
		{Name: "bergmark", Differs: topics, rows: evaluate.Bergmark},
		{Name: "chen", Differs: differs[3], rows: m.chen},
	}
}

// papersMade are the tables, and what several of them are made of.
type papersMade struct {
	*cli
	data    string
	library *evaluate.Library
	imports []bench.ImportRun // of the library, with the filter off and on
	lists   []evaluate.Row    // of the record that the last of them gave
}

func (m *papersMade) zhuang(ctx context.Context) ([]evaluate.Row, error) {
	lib, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	cfg, err := m.Settings()
	if err != nil {
		return nil, err
	}
	options, err := app.RankOptions(cfg)
	if err != nil {
		return nil, err
	}
	return evaluate.Zhuang(*lib, options)
}

func (m *papersMade) whitelist(ctx context.Context) ([]evaluate.Row, error) {
	lib, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := evaluate.Whitelists(lib.Sites)
	if err == nil {
		err = m.importLibrary(ctx)
	}
	return append(rows, m.lists...), err
}

// importLibrary imports the library once: the recorded sites as a mirror, generated ones as WARC.
func (m *papersMade) importLibrary(ctx context.Context) error {
	lib, err := m.open(ctx)
	if err != nil || m.imports != nil {
		return err
	}
	o := bench.ImportOptions{Format: ingest.Mirror, Then: m.rank}
	from := filepath.Join(m.data, "farm")
	if m.data == "" {
		o.Format, from = "", filepath.Join(os.TempDir(), fmt.Sprintf("gleaner-papers-%d.warc.gz", os.Getpid()))
		defer func() { _ = os.Remove(from) }()
		write := func(w io.Writer) error { return evaluate.WriteWARC(w, lib.Sites) }
		if err := program.WriteFile(from, write); err != nil {
			return err
		}
	}
	m.imports, err = m.benchImport(ctx, from, o, []bool{false, true})
	return err
}

// listSize is how many domains lists D and C have: theirs, of 8,000 sites with papers.
const listSize = 10

// rank makes the lists by F₁ of a record.
func (m *papersMade) rank(ctx context.Context, db *store.DB) error {
	if m.data == "" {
		if err := db.SaveCitations(ctx, "generated", m.library.Citations()); err != nil {
			return err
		}
	}
	g, err := stats.Generate(ctx, db, nil, stats.Lists{Domains: listSize, Least: 1}, nil)
	if err != nil {
		return err
	}
	ranks, err := db.DomainRanks(ctx, 5)
	if err != nil {
		return err
	}
	best := each.Of(ranks, func(r store.DomainRank) string {
		return fmt.Sprintf("%s %d, %d, %.3f", r.Domain, r.Documents, r.Citations, r.F1)
	})
	m.lists = []evaluate.Row{
		{Figure: fmt.Sprintf("lists D and C of %d domains of parents", listSize), Theirs: "8,000 domains of list C, ordered by F1",
			Ours: fmt.Sprintf("%d domains, %d on both, %d listed with %d URLs", g.Domains, g.Core, g.Listed, g.URLs)},
		{Figure: "the best domains: n_d, n_c, F1", Theirs: "–", Ours: strings.Join(best, "; ")},
	}
	return nil
}

// cdi imports generated records and the library, with the filter off and on.
func (m *papersMade) cdi(ctx context.Context) (rows []evaluate.Row, err error) {
	runs, err := m.benchImport(ctx, "", bench.ImportOptions{Records: 2000, Every: 10}, []bool{false, true})
	if err == nil {
		err = m.importLibrary(ctx)
	}
	if err != nil {
		return nil, err
	}
	for i, r := range slices.Concat(runs, m.imports) {
		kind := [...]string{"generated", "the sites"}[i/2] + ", filter " + [...]string{"off", "on"}[i%2]
		rows = append(rows,
			evaluate.Row{Figure: "seconds a document: " + kind, Theirs: [...]string{"0.24", "2.37"}[i%2],
				Ours: fmt.Sprintf("%.3f of %d documents", r.Seconds/float64(max(1, r.Documents)), r.Documents)},
			evaluate.Row{Figure: "records, seconds, a second: " + kind, Theirs: "594,260 in 16 h, 10.3; 1.6 million in 8.35 h, 53",
				Ours: fmt.Sprintf("%d in %.1f s, %.0f", r.Records, r.Seconds, r.PerSecond)},
			evaluate.Row{Figure: "Table 1: " + kind, Theirs: "5 % of 594,260 academic", Ours: counted(r.Counters)})
	}
	fields, err := m.byField(ctx)
	return append(rows, fields...), err
}

// counted are the counters of CDI's Table 1.
func counted(c store.Counters) string {
	return fmt.Sprintf("all %d, saved_New %d, saved_Duplicate %d, filtered %d, filtered_MTF %d, filtered_DCF %d, failed_TextExtract %d, "+
		"failed_FileNotFound %d, failed_PDFFilenotFound %d", c.All, c.SavedNew, c.SavedDuplicate, c.Filtered, c.FilteredMTF, c.FilteredDCF,
		c.FailedTextExtract, c.FailedFileNotFound, c.FailedPDFNotFound)
}

// chen adds how fast pages are crawled.
func (m *papersMade) chen(ctx context.Context) ([]evaluate.Row, error) {
	pages, err := m.labelledPages()
	if err != nil {
		return nil, err
	}
	rows, err := evaluate.Chen(ctx, pages)
	if err != nil {
		return nil, err
	}
	ours := ""
	o := bench.Options{Pages: 4000, Hosts: 16, Rounds: 1, Names: []string{"gleaner"}, Delays: []time.Duration{0}, Timeout: time.Hour}
	err = m.benchCrawl(ctx, o, 0, func(r bench.Run) { ours = fmt.Sprintf("%.0f, politeness off", r.PagesPerSec) })
	return append(rows, evaluate.Row{Figure: "Table 12, pages a second", Theirs: "27 (400,000 in 4.1 h)", Ours: ours}), err
}
