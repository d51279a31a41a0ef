package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gleaner/internal/classify"
	"gleaner/internal/each"
	"gleaner/internal/lab/evaluate"
	"gleaner/internal/service/program"
	"gleaner/internal/topic"
	"gleaner/internal/web/page"
)

// topicTraining is what `lab train topic` is told.
type topicTraining struct {
	dir, labels, out string
	subjects         string
	options          classify.Options
	folds            int
}

func (c *cli) trainTopic() *cobra.Command {
	var o topicTraining
	cmd := &cobra.Command{Use: "topic --dir DIR --labels FILE --out FILE", Short: "Learn how pages about a topic are told from others", Args: cobra.NoArgs,
		Long: `Learn from labelled pages in a folder (DIR/HOST/PATH) what pages about a topic
hold: a support vector machine while they are few, naïve Bayes weighted by tf·idf
beyond --few. The labels are a line each: URL, tab, topic or other. The figures are those
of sites that were left out of the training and, as in the thesis that the classifiers come
from, of pages that were. The words of the pages stand in the file, too, so that the setting
retrain of 'starter collect' can learn from them again.`,
		Example: "  lab train topic --dir mirror --labels pages.tsv --out databases.json",
		RunE: func(*cobra.Command, []string) error {
			if o.options.Few > classify.MaxFew {
				return fmt.Errorf("%w: --few %d is more than %d", program.ErrUsage, o.options.Few, classify.MaxFew)
			}
			if b := o.options.Beside; !(b >= 0 && b <= classify.MaxBeside) {
				return fmt.Errorf("%w: --beside %v: want 0 to %d", program.ErrUsage, b, classify.MaxBeside)
			}
			pages, err := o.pages()
			if err != nil {
				return err
			}
			examples := each.Of(pages, classify.Labelled.Example)
			model, err := classify.Train(examples, o.options)
			if err != nil {
				return fmt.Errorf("%w: %s: %w", program.ErrUsage, o.labels, err)
			}
			model.Pages = pages
			figures, err := evaluate.CrossValidate(examples, o.folds, o.options)
			if err != nil {
				return err
			}
			if err := program.WriteJSON(o.out, model); err != nil {
				return err
			}
			return c.Print(map[string]any{"file": o.out, "examples": len(examples), "figures": figures}, func(w io.Writer) error {
				if err := figures.WriteText(w); err != nil {
					return err
				}
				_, err := fmt.Fprintf(w, "%d pages: wrote %s\n", len(examples), o.out)
				return err
			})
		}}
	fl := cmd.Flags()
	fl.StringVar(&o.dir, "dir", "", "folder of pages (required)")
	fl.StringVar(&o.labels, "labels", "", "file of labels (required)")
	fl.StringVar(&o.out, "out", "", "file to write (required)")
	fl.StringVar(&o.subjects, "subjects", "", "file of subjects to learn from, too, a line each: topic or other, tab, name, tab, words of it")
	fl.Float64Var(&o.options.Beside, "beside", 0, "what the pages of a site that were read before weigh together against the page, 0 to 10; 1: as much")
	fl.IntVar(&o.folds, "folds", 5, "parts that the examples are cut into for the figures")
	fl.IntVar(&o.options.Few, "few", 1500, "examples up to which a support vector machine learns")
	fl.IntVar(&o.options.Negatives, "negatives", 2, "other pages for each about the topic")
	fl.BoolVar(&o.options.Phrases, "phrases", false, "learn from pairs of words, too, which the classifier then looks for in pages")
	for _, f := range []string{"dir", "labels", "out"} {
		_ = cmd.MarkFlagRequired(f)
	}
	return cmd
}

// pages reads the labelled pages and, after them, the subjects.
func (o topicTraining) pages() ([]classify.Labelled, error) {
	f, err := os.Open(o.labels)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	defer f.Close()
	return o.read(f)
}

// read is pages with the labels in r.
func (o topicTraining) read(r io.Reader) ([]classify.Labelled, error) {
	stops, err := topic.DefaultStops()
	if err != nil {
		return nil, err
	}
	mirror, err := os.OpenRoot(o.dir) // out of which no URL leads
	if err != nil {
		return nil, fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	defer func() { _ = mirror.Close() }()
	filter := topic.NewFilter(stops)
	var out []classify.Labelled
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		address, label, _ := strings.Cut(strings.TrimSpace(lines.Text()), "\t")
		if address == "" || n == 1 && address == "url" {
			continue
		}
		if label != "topic" && label != "other" {
			return nil, fmt.Errorf("%w: %s, line %d: want a URL, a tab and topic or other, have %q", program.ErrUsage, o.labels, n, lines.Text())
		}
		words, err := o.words(mirror, filter, address)
		if err != nil {
			return nil, fmt.Errorf("%w: %s, line %d: %w", program.ErrUsage, o.labels, n, err)
		}
		out = append(out, classify.Labelled{URL: address, Topic: label == "topic", Words: strings.Join(words, " ")})
	}
	subjects, err := o.described(filter)
	return append(out, subjects...), errors.Join(err, lines.Err())
}

// described are the subjects, none without a file of them.
func (o topicTraining) described(f *topic.Filter) ([]classify.Labelled, error) {
	if o.subjects == "" {
		return nil, nil
	}
	return given(o.subjects, func(r io.Reader) ([]classify.Labelled, error) { return classify.ReadSubjects(r, f) })
}

// words are those of a page.
func (o topicTraining) words(mirror *os.Root, f *topic.Filter, address string) ([]string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	path := u.Path
	if strings.HasSuffix(path, "/") || path == "" {
		path += "index.html"
	}
	body, err := mirror.ReadFile(filepath.Join(u.Host, filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	p, err := page.Parse(address, nil, body)
	if err != nil {
		return nil, err
	}
	return classify.Words(f, topic.Page{URL: address, Title: p.Title, Text: p.Text}), nil
}
