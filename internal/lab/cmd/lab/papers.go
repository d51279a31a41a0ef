package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"gleaner/internal/lab/bench"
	"gleaner/internal/lab/evaluate"
	"gleaner/internal/service/app"
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
(2008). Each figure of a paper stands beside ours. Without --data sites are generated; what
needs recorded ones says so.`,
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
				out = append(out, p)
			}
			return c.Print(out, func(w io.Writer) (err error) {
				for _, p := range out {
					err = errors.Join(err, evaluate.WriteRows(w, p.Name+": "+p.Differs, p.Rows))
				}
				return err
			})
		}}
	cmd.Flags().StringVar(&data, "data", os.Getenv("GLEANER_SHARED"), "folder with recorded sites (farm) and their labels (truth)")
	return cmd
}

func (c *cli) papers(data string) []paper {
	sites := "one generated site of a conference, all of whose documents are papers"
	if data != "" {
		sites = "recorded sites, each crawled from its root; Nutch is breadth-first with 100 links a page"
	}
	return []paper{
		{Name: "zhuang", Differs: sites, rows: func(ctx context.Context) ([]evaluate.Row, error) { return c.zhuang(ctx, data) }},
		{Name: "whitelist", Differs: "crawls of your own, on record, in place of CiteSeerX's of 2011", rows: func(context.Context) ([]evaluate.Row, error) {
			return []evaluate.Row{
				{Figure: "Table 2, F/Q, G/N, G/Q, D/P: blacklist", Theirs: "15.28 %, 20.33 %, 0.11 %, 0.750", Ours: "starter stats table2 --paper"},
				{Figure: "whitelist", Theirs: "38.09 %, 49.61 %, 0.52 %, 1.082", Ours: "the same"},
				{Figure: "F1, lists D and C by the parents' domains", Theirs: "8,000 domains", Ours: "starter whitelist generate"},
			}, nil
		}},
		{Name: "cdi", Differs: "generated records, each tenth a PDF, on the disk of this machine", rows: c.cdi},
		{Name: "bergmark", Differs: "generated webs of five topics, a small one and one shaped as recorded sites", rows: evaluate.Bergmark},
		{Name: "chen", Differs: "a generated web, whose words part better than real ones (lab train topic)", rows: c.chen},
	}
}

// zhuang crawls the recorded sites, or the generated one.
func (c *cli) zhuang(ctx context.Context, data string) ([]evaluate.Row, error) {
	cfg, err := c.Settings()
	if err != nil {
		return nil, err
	}
	options, err := app.RankOptions(cfg)
	if err != nil {
		return nil, err
	}
	sites := evaluate.GeneratedConference()
	if data != "" {
		hosts, err := filepath.Glob(filepath.Join(data, "farm", "*.*", "index.htm*"))
		if err != nil {
			return nil, err
		}
		of := snapshotFlags{labels: filepath.Join(data, "truth", "labels.tsv")}
		for _, page := range hosts {
			of.records = append(of.records, filepath.Dir(page))
		}
		if sites, err = of.open(ctx, cfg); err != nil {
			return nil, err
		}
	}
	rows, err := evaluate.Zhuang(sites, options)
	const recall = "81.7 % (WebDB 84.8, JAIR 79.5), of the missing 78, 72 %"
	return append(rows, evaluate.Row{Figure: "Fig. 6-9, recall by year, in three forms", Theirs: recall, Ours: "of a harvest: starter report VENUE"}), err
}

// cdi imports records with the filter off and on.
func (c *cli) cdi(ctx context.Context) (rows []evaluate.Row, err error) {
	runs, err := c.benchImport(ctx, &benchFlags{}, bench.ImportOptions{Records: 2000, Every: 10}, []bool{false, true})
	for i, r := range runs {
		rows = append(rows,
			evaluate.Row{Figure: "seconds a document, filter " + []string{"off", "on"}[i], Theirs: []string{"0.24", "2.37"}[i],
				Ours: fmt.Sprintf("%.3f", r.Seconds/float64(max(1, r.Documents)))},
			evaluate.Row{Figure: "Table 1, all and saved_New, and records a second", Theirs: "594,260, 5 % academic; 10.3",
				Ours: fmt.Sprintf("%d, %d; %.0f", r.Records, r.Saved, r.PerSecond)})
	}
	const byField = "CS 91.1, arXiv 84.5, mathematical physics 75.7, PubMed 41.3 %"
	return append(rows, evaluate.Row{Figure: "Tables 6-8, accepted by field", Theirs: byField, Ours: "needs labelled documents: lab train filter"}), err
}

// chen adds how fast pages are crawled.
func (c *cli) chen(ctx context.Context) ([]evaluate.Row, error) {
	rows, err := evaluate.Chen(ctx)
	if err != nil {
		return nil, err
	}
	r, err := c.benchCrawl(ctx, &benchFlags{options: bench.Options{Pages: 4000, Hosts: 16, Rounds: 1}})
	ours := fmt.Sprintf("%.0f, politeness off", r.Gleaner.PagesPerSec)
	return append(rows, evaluate.Row{Figure: "Table 12, pages a second", Theirs: "27 (400,000 in 4.1 h)", Ours: ours}), err
}
