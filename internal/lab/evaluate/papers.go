package evaluate

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"gleaner/internal/classify"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/lab/topicweb"
	"gleaner/internal/topic"
)

// Row sets a figure of a paper beside ours.
type Row struct {
	Figure string `json:"figure"`
	Theirs string `json:"theirs"`
	Ours   string `json:"ours"`
}

// share is a part of a whole in percent.
func share(part, whole int) float64 { return 100 * float64(part) / float64(max(1, whole)) }

// Bergmark makes figures 3 to 6 of Bergmark (JCDL 2002) again: the collection of the default
// command, ranked.
func Bergmark(ctx context.Context) (rows []Row, err error) {
	ask, err := synthesis.DefaultAsk()
	if err != nil {
		return nil, err
	}
	for _, o := range []topicweb.Options{{Seed: 1, Gap: 1, Noise: 0.02}, {Seed: 1, Gap: 1, Noise: 0.02, Wide: true, Mixed: 0.07}} {
		web := topicweb.New(o.WithDefaults())
		name := (TopicWeb{Web: o}).name()
		rows = append(rows, ranked(name+", search alone", searchAlone(web)))
		for _, p := range []synthesis.Policy{ask.Policy, synthesis.Gleaner, synthesis.BreadthFirst} {
			c, err := crawlTopics(ctx, web, way{"", p, func(c *setting) { c.Bounds, c.Policy = ask.Bounds, p }}, bounds{})
			if err != nil {
				return nil, err
			}
			rows = append(rows, ranked(fmt.Sprintf("%s, default, policy %s", name, p), c.measure(string(p), len(c.read))))
		}
	}
	return rows, nil
}

func ranked(what string, r TopicRun) Row {
	ours := fmt.Sprintf("%d pages:", r.Pages)
	for i, at := range Ranks()[:3] {
		ours += fmt.Sprintf(" %.2f of the first %d;", r.Ranks[i], at)
	}
	if n := len(r.Correlation); n > 0 {
		ours += fmt.Sprintf(" correlation %.2f, at last %.2f", r.Correlation[0].Value/100, r.Correlation[n-1].Value/100)
	}
	return Row{"Fig. 3-6, " + what, "0.5 of one topic, best correlations first", ours}
}

// Chen makes Tables 10, 11, 13 and 14 of Chen (2008) and the PRR by subject again; the first
// two of labelled pages, of a generated web where there are none.
func Chen(ctx context.Context, pages []classify.Example) (rows []Row, err error) {
	o := topicweb.Options{Seed: 1, Gap: 1, Noise: 0.02, Wide: true, Mixed: 0.07, Hosts: 300}
	web := topicweb.New(o.WithDefaults())
	if len(pages) == 0 {
		stops, err := topic.DefaultStops()
		if err != nil {
			return nil, err
		}
		about := web.Search(web.Topics()[0].Query, 100)
		pages = examplesOf(web, topic.NewFilter(stops), about, web.Others(200))
	}
	tables, err := CompareLearners(pages, 5, classify.Options{})
	if err != nil {
		return nil, err
	}
	rows = ClassifierRows(tables)
	crawled, err := Topics(ctx, o.WithDefaults(), 10_000, []string{CindiParts})
	if err != nil {
		return nil, err
	}
	accepted := map[string]string{string(synthesis.BreadthFirst): "9.26 %", string(synthesis.ContextGraph): "29.34 %", "cindi, all": "36.11 %"}
	for _, r := range crawled.Runs {
		if r.Policy != SearchAlone {
			ours := fmt.Sprintf("%.1f %% of %d", share(r.Accepted, r.Documents), r.Documents)
			rows = append(rows, Row{"Table 13-14, documents accepted, " + r.Policy, accepted[r.Policy], ours})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(crawled.Runs[0].PRR)) {
		rows = append(rows, Row{"PRR, breadth-first, " + name, "", fmt.Sprintf("%.1f %%", 100*crawled.Runs[0].PRR[name])})
	}
	return rows, nil
}

// ClassifierRows are Tables 10 and 11 of Chen (2008), §4.3.3: the accuracy on pages that were
// left out, as there, and on sites that were.
func ClassifierRows(t *LearnerTables) (rows []Row) {
	theirs := map[string]string{string(classify.Keywords): "76-82 %", string(classify.Documents): "80-81 %",
		string(classify.RDFGammaRKF): "88.5-93.5 %", "weighted": "89.5-91.5 %"}
	add := func(what string, f LearnerFigures) {
		rows = append(rows, Row{fmt.Sprintf("%s, %d pages", what, f.Pages), theirs[f.Learner],
			fmt.Sprintf("%.1f %% (sites left out %.1f %%, precision %.1f %%, recall %.1f %%)", 100*f.ByPage.Accuracy,
				100*f.BySite.Accuracy, 100*f.BySite.Precision, 100*f.BySite.Recall)})
	}
	for _, f := range t.Machines {
		add("Table 10, "+f.Learner, f)
	}
	add("with the pages of its site", t.Beside)
	for _, f := range t.Bayes {
		add("Table 11, "+f.Learner, f)
	}
	return rows
}

// WriteRows writes them as a table.
func WriteRows(w io.Writer, title string, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\n  figure\ttheirs\tours\n", title)
	for _, r := range rows {
		fmt.Fprintf(t, "  %s\t%s\t%s\n", r.Figure, r.Theirs, r.Ours)
	}
	return t.Flush()
}
