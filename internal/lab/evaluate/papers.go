package evaluate

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"text/tabwriter"

	"gleaner/internal/classify"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/lab/topicweb"
	"gleaner/internal/rank"
	"gleaner/internal/topic"
	"gleaner/internal/web/page"
)

// Row sets a figure of a paper beside ours.
type Row struct {
	Figure string `json:"figure"`
	Theirs string `json:"theirs"`
	Ours   string `json:"ours"`
}

// fromHandler asks a handler in this process.
func fromHandler(h http.Handler) Ask {
	return func(u string) (Recorded, error) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, u, nil))
		return Recorded{URL: u, Status: rec.Code, Header: rec.Header(), Body: rec.Body.Bytes()}, nil
	}
}

// GeneratedConference is a generated site of a conference, all documents of which are papers.
func GeneratedConference() []Named {
	const host = "www.bigconf.example"
	web := sampleweb.New(sampleweb.Options{Seed: 1, Conferences: []sampleweb.Conference{{Host: host, Pages: 5000}}})
	_, start := web.ConferenceSize(host)
	site := NewSnapshot(start, fromHandler(web.Handler()), page.Parse)
	return []Named{{host, Setup{Site: site, Judge: func(string) Kind { return Paper }}}}
}

// nutchLinks is how many links of a page Nutch follows unless it is told otherwise.
const nutchLinks = 100

// fewLinks is a site of whose pages no further links are seen.
type fewLinks struct{ Site }

func (f fewLinks) Get(u string) (Answer, error) {
	a, err := f.Site.Get(u)
	if a.Page != nil && len(a.Page.Links) > nutchLinks {
		p := *a.Page
		p.Links = p.Links[:nutchLinks]
		a.Page = &p
	}
	return a, err
}

// pagesTo is how many pages were read when a share of the papers was reached.
func pagesTo(r Run, papers int, share float64) int {
	pages, got := 0, 0
	for _, s := range r.Answered() {
		switch {
		case s.Kind == Paper:
			got++
		case !s.Document:
			pages++
		}
		if float64(got) >= share*float64(papers) {
			return pages
		}
	}
	return -1
}

// manyPapers is from how many papers on a site has a row of its own.
const manyPapers = 75

// Zhuang makes figures 10 to 13, 15 and 16 and Table 4 of Zhuang et al. (JCDL 2005) again.
func Zhuang(sites []Named, opts rank.Options) (rows []Row, err error) {
	var logs [][]rank.Followed
	composed, reached := map[string][2]int{}, map[string]int{}
	for _, s := range sites {
		c, runs, err := Compare(s.Name, s.Setup, []string{rank.Zhuang, rank.Gleaner}, opts)
		if err != nil {
			return nil, err
		}
		bfs, err := policy(rank.BreadthFirst, opts)
		if err != nil {
			return nil, err
		}
		few, err := Simulate(Setup{Site: fewLinks{s.Setup.Site}, Judge: s.Setup.Judge}, bfs)
		if err != nil {
			return nil, err
		}
		logs = append(logs, Log(runs[0]))
		reached["bfs by 100 links a page"] += len(few.Goals())
		pages := max(1, pagesTo(runs[0], c.Papers, 1))
		var to []string
		for i, r := range c.Results {
			if r.Strategy == OracleName {
				continue
			}
			half, most := pagesTo(runs[i], c.Papers, 0.5), pagesTo(runs[i], c.Papers, 0.85)
			to = append(to, fmt.Sprintf("%s %.0f, %.0f", r.Strategy, share(half, pages), share(most, pages)))
			reached[r.Strategy] += r.Papers
			n := composed[r.Strategy]
			for kind, of := range r.Composition {
				if n[1] += of; kind != Paper {
					n[0] += of
				}
			}
			composed[r.Strategy] = n
		}
		if c.Papers >= manyPapers {
			rows = append(rows, Row{fmt.Sprintf("Fig. 10-12, %s: %d papers, %d pages, to 50 and 85 %%", s.Name, c.Papers, pages),
				"VLDB: bfs to 85 % 50, theirs 33 % of pages", strings.Join(to, "; ") + " %"})
		}
	}
	var noise, found []string
	for _, name := range slices.Sorted(maps.Keys(composed)) {
		noise = append(noise, fmt.Sprintf("%s %.1f %%", name, share(composed[name][0], composed[name][1])))
	}
	for _, name := range slices.Sorted(maps.Keys(reached)) {
		found = append(found, fmt.Sprintf("%s %d", name, reached[name]))
	}
	rows = append(rows,
		Row{fmt.Sprintf("Fig. 13, no papers among the first %d documents of a site", FirstDocuments), "less than bfs", strings.Join(noise, ", ")},
		Row{"Fig. 15-16, papers reached", "Nutch misses 184 of the ACL site", strings.Join(found, ", ")})
	for _, with := range []bool{true, false} {
		lists, _ := rank.TrainLinks(rank.Lists{}, logs, with)
		what := fmt.Sprintf("Table 4, with the anchors of documents: %v, ", with)
		high, medium := lists.High[:min(9, len(lists.High))], lists.Medium[:min(9, len(lists.Medium))]
		rows = append(rows,
			Row{what + "high", "volume pub paper conf journal content program research list", strings.Join(high, " ")},
			Row{what + "medium", "topic faculty people group lab", strings.Join(medium, " ")})
	}
	return rows, nil
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

// Chen makes Tables 10, 11, 13 and 14 of Chen (2008) and the PRR by subject again.
func Chen(ctx context.Context) (rows []Row, err error) {
	o := topicweb.Options{Seed: 1, Gap: 1, Noise: 0.02, Wide: true, Mixed: 0.07, Hosts: 300}
	web := topicweb.New(o.WithDefaults())
	stops, err := topic.DefaultStops()
	if err != nil {
		return nil, err
	}
	about := web.Search(web.Topics()[0].Query, 100)
	examples := examplesOf(web, topic.NewFilter(stops), about, web.Others(200))
	tables, err := classify.Compare(examples, 5, classify.Options{})
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
func ClassifierRows(t *classify.Tables) (rows []Row) {
	theirs := map[string]string{string(classify.Keywords): "76-82 %", string(classify.Documents): "80-81 %",
		string(classify.RDFGammaRKF): "88.5-93.5 %", "weighted": "89.5-91.5 %"}
	add := func(what string, f classify.Figures) {
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
