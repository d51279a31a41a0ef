package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"gleaner/internal/classify"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/lab/topicweb"
	"gleaner/internal/rank"
	"gleaner/internal/topic"
	"gleaner/internal/web/weburl"
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
	ask, err := synthesis.DefaultRequest()
	if err != nil {
		return nil, err
	}
	for _, o := range []topicweb.Options{{Seed: 1, Gap: 1, Noise: 0.02}, {Seed: 1, Gap: 1, Noise: 0.02, Wide: true, Mixed: 0.07}} {
		web := topicweb.New(o.WithDefaults())
		name := (topicWeb{Web: o}).name()
		rows = append(rows, ranked(name+", search alone", web, searchAlone(web)))
		for _, p := range []synthesis.Policy{ask.Policy, synthesis.Gleaner, synthesis.BreadthFirst} {
			c, err := crawlTopics(ctx, web, p, 0, func(s *setting) { s.Bounds = ask.Bounds })
			if err != nil {
				return nil, err
			}
			rows = append(rows, ranked(fmt.Sprintf("%s, default, policy %s", name, p), web, c.read))
		}
	}
	return rows, nil
}

// searchAlone are the pages that a search for each topic finds, the first ones most like it.
func searchAlone(web *topicweb.Web) (found []topicRead) {
	for _, t := range web.Topics() {
		for i, u := range web.Search(t.Query, 500) {
			found = append(found, topicRead{host: weburl.Host(u), about: web.About(u), said: t.ID, correlation: float64(-i)})
		}
	}
	return found
}

// ranked tells how precise the pages are that are most like each topic, the mean of the
// topics, and the mean correlation of the first and the last hundred pages.
func ranked(what string, web *topicweb.Web, read []topicRead) Row {
	ours := fmt.Sprintf("%d pages:", len(read))
	best := slices.Clone(read)
	slices.SortStableFunc(best, func(a, b topicRead) int { return cmp.Compare(b.correlation, a.correlation) })
	for _, first := range []int{7, 20, 50} {
		right, met := 0, map[string]int{}
		for _, r := range best {
			if met[r.said]++; r.said != "" && met[r.said] <= first && r.about == r.said {
				right++
			}
		}
		ours += fmt.Sprintf(" %.2f of the first %d;", float64(right)/float64(first*len(web.Topics())), first)
	}
	mean := func(of []topicRead) (sum float64) {
		for _, r := range of {
			sum += r.correlation / float64(len(of))
		}
		return sum
	}
	if n := min(100, len(read)); read[0].correlation > 0 { // that of a search is its rank
		ours += fmt.Sprintf(" correlation %.2f, at last %.2f", mean(read[:n]), mean(read[len(read)-n:]))
	}
	return Row{"Fig. 3-6, " + what, "0.5 of one topic, best correlations first", ours}
}

// Chen makes the figures of Chen (2008) again: of the two classifiers (Tables 10 and 11), of
// labelled pages or of a generated web where there are none, and of the documents accepted
// (Tables 13 and 14) and the PRR by subject.
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
	for _, l := range []struct {
		name, theirs string
		options      classify.Options
	}{
		{"Table 10, machine, RDF + γ·RKF", "88.5-93.5 %", classify.Options{Representation: classify.RDFGammaRKF}},
		{"Table 10, machine, tf·idf by sites (used)", "88.5-93.5 %", classify.Options{Representation: classify.SiteIDF}},
		{"Table 11, weighted naïve Bayes", "89.5-91.5 %", classify.Options{Few: 1}},
	} {
		f, err := CrossValidate(pages, 5, l.options)
		if err != nil {
			return nil, err
		}
		rows = append(rows, Row{l.name, l.theirs, fmt.Sprintf("%.1f %% (sites left out %.1f %%, with the pages of the site %.1f %%)",
			100*f.ByPage.Accuracy, 100*f.BySite.Accuracy, 100*f.Beside.Accuracy)})
	}
	rules, err := allRules()
	if err != nil {
		return nil, err
	}
	for _, way := range []struct {
		name, theirs string
		policy       synthesis.Policy
		change       func(*setting)
	}{
		{"breadth-first", "9.26 %", synthesis.BreadthFirst, nil}, {"context graph", "29.34 %", synthesis.ContextGraph, nil},
		{"context graph, all rules", "36.11 %", synthesis.ContextGraph, rules}, {"gleaner", "–", synthesis.Gleaner, nil},
	} {
		c, err := crawlTopics(ctx, web, way.policy, int(Early*float64(web.Pages())), way.change)
		if err != nil {
			return nil, err
		}
		ours := fmt.Sprintf("%.1f %% of %d", share(c.accepted, len(c.documents)), len(c.documents))
		rows = append(rows, Row{"Table 13-14, documents accepted, " + way.name, way.theirs, ours})
		if way.policy == synthesis.BreadthFirst {
			rows = append(rows, c.prr()...)
		}
	}
	return rows, nil
}

// prr are the shares of the pages that a crawl took for being about each topic.
func (c *topicCrawl) prr() (rows []Row) {
	about := map[string]int{}
	for _, r := range c.read {
		if r.correlation >= topic.Defaults().Threshold {
			about[r.said]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(about)) {
		rows = append(rows, Row{"PRR, breadth-first, " + name, "", fmt.Sprintf("%.1f %%", share(about[name], len(c.read)))})
	}
	return rows
}

// allRules switches all heuristics of CINDI on.
func allRules() (func(*setting), error) {
	lists, err := rank.DefaultLists()
	return func(s *setting) {
		s.Links.StopDirectories, s.Links.Levels, s.Trap = lists.StopDirectories, synthesis.PatternLevels, synthesis.PatternTrap()
		s.Inspect, s.LearnLinks, s.classifiers = true, true, true
		s.Words.PruningAnchors, s.Words.ExtractingAnchors = lists.PruningAnchors, lists.ExtractingAnchors
	}, err
}

// learntOf is how many pages of each topic, which a search for it finds first, its
// classifier is learnt of; for each page there are two that are not about it (Chen
// 2008): of each other topic a quarter as many, and those that no topic is searched for
// by.
const learntOf = 20

// learnTopics trains a classifier for each topic on what the search engine finds, never on
// what is true of a page.
func learnTopics(web *topicweb.Web, filter *topic.Filter) (map[string]*classify.Classifier, error) {
	found := map[string][]string{}
	for _, t := range web.Topics() {
		found[t.ID] = web.Search(t.Query, learntOf)
	}
	out := map[string]*classify.Classifier{}
	for _, t := range web.Topics() {
		others := web.Others(2 * learntOf)
		for _, o := range web.Topics() {
			if o.ID != t.ID {
				others = append(others, found[o.ID][:min(len(found[o.ID]), learntOf/4)]...)
			}
		}
		c, err := classify.Train(examplesOf(web, filter, found[t.ID], others), classify.Options{})
		if err != nil {
			return nil, err
		}
		out[t.ID] = c
	}
	return out, nil
}

// examplesOf are pages about a topic and others, to learn from.
func examplesOf(web *topicweb.Web, filter *topic.Filter, about, others []string) (out []classify.Example) {
	for i, u := range slices.Concat(about, others) {
		if p, ok := web.Page(u); ok {
			words := classify.Words(filter, topic.Page{URL: u, Title: p.Title, Text: p.Text})
			out = append(out, classify.Example{Words: words, Topic: i < len(about), Site: u})
		}
	}
	return out
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
