package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"gleaner/internal/document"
	"gleaner/internal/each"
	"gleaner/internal/lab/evaluate"
	"gleaner/internal/lab/filter"
	"gleaner/internal/lab/hardset"
	"gleaner/internal/lab/homepages"
	"gleaner/internal/rank"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
)

func (c *cli) trainCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "train", Short: "Learn weights from your own labels",
		Long: `Learn weights from your own labels and write them to a file, which the policy then
names. The weights that come with the program were learnt by the same commands.`}
	cmd.AddCommand(c.trainHomepage(), c.trainFilter(), c.trainLinks(), c.trainTopic())
	return cmd
}

// trained prints what a training came to, and how to use it.
func (c *cli) trained(file, model string, figures any, text func(io.Writer) error) error {
	return c.Print(map[string]any{"file": file, "policy": "models." + model, "figures": figures}, func(w io.Writer) error {
		if err := text(w); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "wrote %s; use it in the policy file, as models: {%s: %s}\n", file, model, file)
		return err
	})
}

func (c *cli) trainHomepage() *cobra.Command {
	var labels, out string
	var authors, seeds int
	cmd := &cobra.Command{Use: "homepage --out FILE", Short: "Learn how homepages are told from other pages", Args: cobra.NoArgs,
		Long: `Learn the weights of the evidence for a homepage from generated webs, and, with
--labels, from the candidates of the record that the labels judge: tab-separated
author, pid, homepage with a header line. An empty homepage says that the author
has none. The figures are those of held-out authors.`,
		Example: "  lab train homepage --out homepage.json\n  lab train homepage --labels judged.tsv --out homepage.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			own, err := c.ownExamples(cmd.Context(), labels)
			if err != nil {
				return err
			}
			all := hardset.TrainingSeeds()
			m, err := hardset.Train(cmd.Context(), all[:min(len(all), max(1, seeds))], authors, own)
			if err != nil {
				return err
			}
			if err := program.WriteFile(out, m.Write); err != nil {
				return err
			}
			return c.trained(out, "homepage", m.Figures, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%d examples of your own; held out: %.0f candidates, accuracy %.4f, precision %.4f, recall %.4f\n",
					len(own), m.Figures["candidates"], m.Figures["accuracy"], m.Figures["precision"], m.Figures["recall"])
				return err
			})
		}}
	fl := cmd.Flags()
	fl.StringVar(&labels, "labels", "", "file of labelled authors")
	fl.StringVar(&out, "out", "", "file to write (required)")
	fl.IntVar(&authors, "authors", 200, "authors of each generated web")
	fl.IntVar(&seeds, "webs", len(hardset.TrainingSeeds()), "generated webs")
	_ = cmd.MarkFlagRequired("out")
	return cmd
}

// ownExamples are the candidates of the record that a file of labels judges.
func (c *cli) ownExamples(ctx context.Context, file string) ([]homepages.Example, error) {
	if file == "" {
		return nil, nil
	}
	labels, err := given(file, homepages.ReadLabels)
	if err != nil {
		return nil, err
	}
	a, err := c.Record(ctx)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	decisions, err := a.DB.AllDecisions(ctx)
	if err != nil {
		return nil, err
	}
	own := homepages.Examples(decisions, knownAs(labels, decisions))
	if len(own) == 0 {
		return nil, fmt.Errorf("%w: the record has no candidate of an author in %s; harvest, or `lab evaluate homepages --live`, first", program.ErrUsage, file)
	}
	return own, nil
}

// given reads a file that a person named.
func given[T any](file string, read func(io.Reader) ([]T, error)) ([]T, error) {
	f, err := os.Open(filepath.Clean(file))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	defer f.Close()
	all, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", program.ErrUsage, file, err)
	}
	return all, nil
}

func (c *cli) trainFilter() *cobra.Command {
	var o filter.Options
	var labels, out string
	cmd := &cobra.Command{Use: "filter --dir DIR --labels FILE --out FILE", Short: "Learn how papers are told from other documents", Args: cobra.NoArgs,
		Long: `Learn the weights of the academic filter from documents in a folder
(DIR/HOST/PATH) and their labels (a line each: URL, tab, paper, thesis, slides,
course, cv, …). Cross-validation leaves out whole sites.`,
		Example: "  lab train filter --dir mirror --labels labels.tsv --out filter.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.Settings()
			if err != nil {
				return err
			}
			if o.Labels, err = given(labels, filter.ReadLabels); err != nil {
				return err
			}
			o.Reader = document.NewReader(document.Options{OCR: cfg.Documents.OCR})
			m, report, err := filter.Train(cmd.Context(), o)
			if err != nil {
				return err
			}
			if err := program.WriteJSON(out, m); err != nil {
				return err
			}
			var text bytes.Buffer
			if err := report.Write(&text); err != nil {
				return err
			}
			return c.trained(out, "filter", text.String(), func(w io.Writer) error {
				_, err := w.Write(text.Bytes())
				return err
			})
		}}
	fl := cmd.Flags()
	fl.StringVar(&o.Dir, "dir", "", "folder of documents (required)")
	fl.StringVar(&labels, "labels", "", "file of labels (required)")
	fl.StringVar(&o.Published, "published", "", "published training set (ARFF) to learn from, too")
	fl.IntVar(&o.Workers, "workers", 2, "documents read at a time")
	fl.StringVar(&out, "out", "", "file to write (required)")
	for _, f := range []string{"dir", "labels", "out"} {
		_ = cmd.MarkFlagRequired(f)
	}
	return cmd
}

func (c *cli) trainLinks() *cobra.Command {
	var s snapshotFlags
	var out, prior string
	var from []string
	cmd := &cobra.Command{Use: "links --from HOST… | --record DIR… | --warc FILE… --out FILE [--prior FILE]", Short: "Learn which words of links lead to papers", Args: cobra.NoArgs,
		Long: `Learn from the traverse trees of breadth-first crawls which words of links lead to
papers, as Zhuang et al. trained their crawler: from sites that were crawled for
real and are on record (--from, best after 'harvest --strategy bfs'), or from
recorded ones, which are crawled for it. What is written are classes of words for
the strategy zhuang (--out, YAML), and, from recorded sites, the weights with which
gleaner starts on a site (--prior, JSON). Nothing is asked of the network.`,
		Example: "  lab train links --from www.example.edu --from cs.example.org --out lists.yaml\n  lab train links --warc site.warc.gz --out lists.yaml\n  lab train links --record mirror/www.example.edu --record mirror/cs.example.org --out lists.yaml --prior prior.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.Settings()
			if err != nil {
				return err
			}
			base, err := cfgLists(app.RankOptions(cfg))
			if err != nil {
				return err
			}
			var sites []evaluate.Named
			if len(from) == 0 || len(s.records)+len(s.warcs) > 0 {
				if sites, err = s.open(cmd.Context(), cfg); err != nil {
					return err
				}
			}
			if prior != "" && len(sites) == 0 {
				return fmt.Errorf("%w: --prior wants recorded sites (--record or --warc): what words stood around a link is not kept once it was followed", program.ErrUsage)
			}
			crawls, err := c.crawlsOf(cmd.Context(), from)
			if err != nil {
				return err
			}
			return c.learnLinks(sites, crawls, out, prior, base)
		}}
	s.register(cmd)
	cmd.Flags().StringArrayVar(&from, "from", nil, "host that was crawled and is on record (may be given again)")
	cmd.Flags().StringVar(&out, "out", "", "word lists to write (required)")
	cmd.Flags().StringVar(&prior, "prior", "", "weights of gleaner to write")
	_ = cmd.MarkFlagRequired("out")
	return cmd
}

// cfgLists are the lists to start from: the settings', or those that come with the
// program.
func cfgLists(o rank.Options, err error) (rank.Lists, error) {
	if err != nil || o.Lists == nil {
		l, lerr := rank.DefaultLists()
		return l, cmp.Or(err, lerr)
	}
	return *o.Lists, nil
}

// crawlsOf reads the crawls of hosts from the record.
func (c *cli) crawlsOf(ctx context.Context, hosts []string) ([][]evaluate.Followed, error) {
	if len(hosts) == 0 {
		return nil, nil
	}
	a, err := c.Record(ctx)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var out [][]evaluate.Followed
	for _, host := range hosts {
		links, err := a.DB.FollowedLinks(ctx, host)
		if err != nil {
			return nil, err
		}
		if len(links) == 0 {
			return nil, program.Unknown{Reason: fmt.Errorf("nothing of %s is on record: see the hosts in 'starter report'", host)}
		}
		out = append(out, each.Of(links, func(l store.FollowedLink) evaluate.Followed { return evaluate.Followed(l) }))
	}
	return out, nil
}

func (c *cli) learnLinks(sites []evaluate.Named, crawls [][]evaluate.Followed, out, prior string, lists rank.Lists) error {
	for _, s := range sites {
		run, err := evaluate.BreadthFirst(s.Setup)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		crawls = append(crawls, evaluate.Log(run))
	}
	learnt, report := evaluate.TrainLinks(lists, crawls)
	if err := program.WriteFile(out, func(w io.Writer) error { return yaml.NewEncoder(w).Encode(learnt) }); err != nil {
		return err
	}
	if prior != "" {
		p, err := evaluate.TrainPrior(learnt, sites)
		if err != nil {
			return err
		}
		if err := program.WriteJSON(prior, p); err != nil {
			return err
		}
	}
	return c.trained(out, "link-lists", report, func(w io.Writer) error {
		if prior != "" {
			fmt.Fprintf(w, "wrote %s; use it in the policy file, as models: {link-prior: %s}\n", prior, prior)
		}
		return report.WriteText(w)
	})
}
