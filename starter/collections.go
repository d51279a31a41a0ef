package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gleaner/internal/classify"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/each"
	"gleaner/internal/rank"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
	"gleaner/internal/topic"
)

const collectionArg = "the name of collections, as `starter collections list` has it"

func collectionsCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "collections", Short: "List, show, export, judge and remove collections by topic"}
	cmd.AddCommand(collectionsList(c), collectionsShow(c), collectionsExport(c), collectionsJudge(c),
		collectionsRemove(c))
	return cmd
}

func collectionsList(c *cli) *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List collections by topic, the latest first", Args: cobra.NoArgs, Example: "  starter collections list --json",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			all, err := collections.In(a.DB).ListBefore(ctx, 0, 0)
			return printRows(c, all, err, "name\tstate\trequests\twhy it ended", func(x collections.Collection) string {
				return fmt.Sprintf("%s\t%s\t%d\t%s", x.Name, x.Status(), x.Requests, x.Note)
			}, "no collection yet: starter collect --example > topics.yaml")
		})}
}

func collectionsRemove(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove collections that are not being made; their documents stay in the library",
		Args: args(1, collectionArg), Example: "  starter collections remove math",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			err := collections.Remove(ctx, collections.In(a.DB), args[0])
			return done(c, err, map[string]string{runCollections: args[0], "did": "removed"}, "%s removed\n", args[0])
		})}
}

func collectionsExport(c *cli) *cobra.Command {
	var of string
	var f exportFlags
	cmd := &cobra.Command{Use: "export NAME", Short: "Write what is in collections: pages and papers, by topic, the best first", Args: args(1, collectionArg),
		Long: `Write what is in collections. As jsonl {"topic", "correlation", "url", "title", "kind",
"sha256", "parent", "depth", "n", "at"}, one a line. In the other formats as 'starter
export' writes papers, where "matched_by" is the topic and "score" the correlation: a
document has what is known of the paper that it is, and a page its title and address.
With --files the documents, too.`,
		Example: `  starter collections export math > math.jsonl
  starter collections export math --topic 'mathematics/number theory' --format bibtex
  starter collections export math --format csv --files --out math`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := f.check(c.JSON); err != nil {
				return err
			}
			return c.withRecord(cmd.Context(), func(a *app.App) error {
				return exportCollection(cmd.Context(), c, a, args[0], of, f)
			})
		}}
	f.register(cmd)
	f.topics = true
	cmd.Flags().StringVar(&of, "topic", "", "only this topic's")
	return cmd
}

func exportCollection(ctx context.Context, c *cli, a *app.App, name, of string, f exportFlags) error {
	entries, err := collectionEntries(ctx, a.DB, name, of)
	if err != nil {
		return err
	}
	if f.format == "jsonl" && !f.files {
		return c.toOut(f.out, func(w io.Writer) error { return jsonLines(w, entries) })
	}
	found, err := exportedEntries(ctx, a.DB.DocumentRecords, entries)
	if err != nil {
		return err
	}
	return exportFound(ctx, c, a, f, found, name)
}

// collectionEntries are the entries of collections, or of one topic's.
func collectionEntries(ctx context.Context, db *store.DB, name, of string) ([]collections.Entry, error) {
	record := collections.In(db)
	got, err := record.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	_, topics, err := synthesis.RequestOf(got)
	if err == nil && of != "" && !slices.ContainsFunc(topics, func(t topic.Topic) bool { return t.ID == of }) {
		err = program.Unknown{Reason: fmt.Errorf("%s has no topic %q", name, of)}
	}
	if err != nil {
		return nil, err
	}
	return record.Entries(ctx, got.ID, of)
}

// exportedEntries are the entries of collections as papers are exported.
func exportedEntries(ctx context.Context, db store.DocumentRecords, entries []collections.Entry) ([]store.Exported, error) {
	shas := each.Of(entries, func(e collections.Entry) string { return e.SHA256 })
	known, err := db.ExportDocuments(ctx, shas)
	if err != nil {
		return nil, err
	}
	found := make([]store.Exported, len(entries))
	for i, e := range entries {
		x := known[e.SHA256] // nothing of a page
		if e.Kind == collections.Page {
			x.Kind = "html"
		}
		x.Title = cmp.Or(x.Title, e.Title)
		x.URL, x.ParentURL, x.MatchedBy, x.Score, x.FetchedAt = e.URL, e.Parent, e.Topic, e.Correlation, e.At
		x.Identity = cmp.Or(e.SHA256, e.URL)
		found[i] = x
	}
	return found, nil
}

func collectionsShow(c *cli) *cobra.Command {
	return &cobra.Command{Use: "show NAME", Short: "Show collections by topic: how full each is, what was asked for and accepted, how like each other the topics are", Args: args(1, collectionArg),
		Example: "  starter collections show math",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			return showCollection(ctx, c, collections.In(a.DB), args[0])
		})}
}

// shownCollection is what is told of collections.
type shownCollection struct {
	collections.Collection
	Counts     collections.Counts            `json:"counts"`
	Entries    map[string]collections.Filled `json:"entries"` // by topic
	Acceptance acceptance                    `json:"acceptance"`
	Learnings  []collections.Learning        `json:"learnings,omitempty"` // anew, of classifiers
	Links      *synthesis.LinkTraining       `json:"links,omitempty"`     // what was learnt of the crawl's links, without the classifier
	Own        float64                       `json:"own"`                 // share of the pages that made a centroid which fall to it
	Unsure     []topic.Check                 `json:"unsure,omitempty"`    // topics that others take pages from, where Own is below what it should be
	Similarity []topic.Pair                  `json:"similarity"`
	Traps      []collections.Trapped         `json:"traps,omitempty"` // hosts that were left, since hardly a page of them was on topic

	checked bool // the pages that made the centroids were
}

func showCollection(ctx context.Context, c *cli, record *collections.Record, name string) error {
	got, err := record.Brief(ctx, name)
	if err != nil {
		return err
	}
	s := shownCollection{Collection: got, Similarity: []topic.Pair{}}
	for _, read := range []func() error{
		func() (err error) { s.Counts, err = record.Counts(ctx, got.ID); return },
		func() error { at, err := record.State(ctx, got.ID); s.Entries = at.Topics; return err },
		func() (err error) { s.Acceptance, err = acceptanceOf(ctx, record, got.ID); return },
		func() (err error) { s.Learnings, err = record.Learnings(ctx, got.ID); return },
		func() (err error) { s.Links, err = linksOf(ctx, record, got.ID); return },
		func() (err error) { s.Traps, err = trapsOf(ctx, record, got); return },
		s.model,
	} {
		if err := read(); err != nil {
			return err
		}
	}
	return c.Print(s, s.write)
}

// linksOf is what a crawl learnt of its links, nil where it did not.
func linksOf(ctx context.Context, record *collections.Record, id int) (*synthesis.LinkTraining, error) {
	raw, _, err := collections.Crawl{Record: record, ID: id}.LastTraining(ctx)
	if raw == nil || err != nil {
		return nil, err
	}
	var out synthesis.LinkTraining
	err = json.Unmarshal(raw, &out)
	out.Second = nil
	return &out, err
}

// writeLinks tells it.
func writeLinks(w io.Writer, l *synthesis.LinkTraining) error {
	if l == nil {
		return nil
	}
	fmt.Fprintf(w, "\nlearnt of the links of the latest %s; %d lead to pages on topic, %d do not\n", text.Count(l.Pages, "page"), l.Leads, l.Others)
	for _, x := range []struct {
		what  string
		words []rank.Anchor
	}{{"out of pages on topic", l.Pruning}, {"on from others", l.Extracting}} {
		if len(x.words) == 0 {
			continue
		}
		err := table(w, "words that lead "+x.what+"\tsites\tlead to pages on topic", each.Of(x.words[:min(len(x.words), mostWords)], func(a rank.Anchor) string {
			return fmt.Sprintf("%s\t%d\t%.0f %%", a.Word, a.Sites, 100*a.Share)
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// mostWords is how many words of links are shown; JSON has them all.
const mostWords = 20

// model adds what the centroids tell.
func (s *shownCollection) model() error {
	if s.Model == nil {
		return nil
	}
	var model topic.Model
	if err := json.Unmarshal(s.Model, &model); err != nil {
		return err
	}
	s.Own, s.Unsure = topic.Own(model.Checks)
	s.checked = len(model.Checks) > 0
	s.Similarity = append(s.Similarity, model.Similarity()...)
	for _, centroid := range model.Centroids {
		if _, any := s.Entries[centroid.Topic]; !any {
			s.Entries[centroid.Topic] = collections.Filled{}
		}
	}
	return nil
}

const (
	mostAlike = 5  // pairs of topics are shown
	mostTraps = 10 // hosts that were left
)

// trapsOf are the hosts that a collection left, where it leaves any.
func trapsOf(ctx context.Context, record *collections.Record, c collections.Collection) ([]collections.Trapped, error) {
	ask, _, err := synthesis.RequestOf(c)
	if err != nil || !slices.Contains(ask.Patterns, synthesis.Traps) {
		return nil, err
	}
	return record.Trapped(ctx, c.ID, synthesis.PatternTrap())
}

func (s *shownCollection) write(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s\n%s to %s, %s refused by robots.txt or the blacklist, %d waiting\n", s.Name, strings.TrimSpace(s.Status()+" "+s.Note),
		text.Count(s.Requests, "request"), text.Count(s.Counts.Hosts, "host"), text.Count(s.Refused, "URL"), s.Counts.Waiting)
	if s.Tunnel != nil {
		fmt.Fprintf(w, "tunnels: of %d new sites that end it %d were met\n", classify.TunnelSites, *s.Tunnel)
	}
	for _, o := range slices.Sorted(maps.Keys(s.Counts.Outcomes)) {
		fmt.Fprintf(w, "  %s %d\n", o, s.Counts.Outcomes[o])
	}
	for _, t := range s.Traps[:min(len(s.Traps), mostTraps)] {
		fmt.Fprintf(w, "  left: %s, on topic were %d of %s\n", t.Host, t.Relevant, text.Count(t.Pages, "page"))
	}
	if more := len(s.Traps) - mostTraps; more > 0 {
		fmt.Fprintf(w, "  and %s more\n", text.Count(more, "host"))
	}
	var l lines
	for _, t := range slices.Sorted(maps.Keys(s.Entries)) {
		l.add("%s\t%d\t%.3f", t, s.Entries[t].Entries, s.Entries[t].Worst)
	}
	err := table(w, "\ntopic\tentries\tleast correlation", l)
	if err = cmp.Or(err, s.Acceptance.write(w), writeLearnings(w, s.Learnings), writeLinks(w, s.Links)); err != nil {
		return err
	}
	s.writeChecks(w)
	if len(s.Similarity) == 0 {
		return nil
	}
	return table(w, "most alike\t\tcorrelation", each.Of(s.Similarity[:min(mostAlike, len(s.Similarity))], func(p topic.Pair) string {
		return fmt.Sprintf("%s\t%s\t%.3f", p.A, p.B, p.Correlation)
	}))
}

// writeChecks says how many of the pages that made the centroids fall to them.
func (s *shownCollection) writeChecks(w io.Writer) {
	if !s.checked {
		return
	}
	fmt.Fprintf(w, "\n%.0f %% of the pages that made a centroid would be collected for its topic\n", 100*s.Own)
	if len(s.Unsure) > 0 {
		fmt.Fprintf(w, "warning: that is less than %.0f %%: the topics are hard to tell apart, or the threshold is high for them\n", 100*topic.EnoughOwn)
	}
	for _, k := range s.Unsure {
		fmt.Fprintf(w, "  %d of %d of %s\n", k.Own, k.Pages, k.Topic)
	}
}

// accepted is what came of what a collection fetched, with its shares.
type accepted struct {
	collections.Acceptance
	OfPages     float64 `json:"of_pages"`     // accepted documents for each page fetched
	OfDocuments float64 `json:"of_documents"` // and for each document
}

func sharesOf(a collections.Acceptance) accepted {
	share := func(of int) float64 { return float64(a.Accepted) / float64(max(of, 1)) }
	return accepted{a, share(a.Pages), share(a.Documents)}
}

// acceptance is that of each topic, and of all together.
type acceptance struct {
	All    accepted            `json:"all"`
	Topics map[string]accepted `json:"topics"` // by the topic that what was fetched is most like; "" where it is like none
}

func acceptanceOf(ctx context.Context, record *collections.Record, id int) (acceptance, error) {
	all, by, err := record.Acceptance(ctx, id)
	out := acceptance{sharesOf(all), map[string]accepted{}}
	for t, a := range by {
		out.Topics[t] = sharesOf(a)
	}
	return out, err
}

func (a acceptance) write(w io.Writer) error {
	var l lines
	row := func(name string, x accepted) {
		l.add("%s\t%d\t%d\t%d\t%.2f %%\t%.2f %%", name, x.Pages, x.Documents, x.Accepted, 100*x.OfPages, 100*x.OfDocuments)
	}
	for _, t := range slices.Sorted(maps.Keys(a.Topics)) {
		if t != "" {
			row(t, a.Topics[t])
		}
	}
	if none, any := a.Topics[""]; any {
		row("(none)", none)
	}
	row("(all)", a.All)
	return table(w, "\ntopic\tpages\tdocuments\taccepted\tfor each page\tof documents", l)
}

// writeLearnings shows what came of having classifiers learn anew.
func writeLearnings(w io.Writer, all []collections.Learning) error {
	if len(all) == 0 {
		return nil
	}
	return table(w, "\nlearnt anew\tversion\tat pages\tlabelled\tits own\taccuracy", each.Of(all, func(l collections.Learning) string {
		accuracy := "–"
		if l.Accuracy != nil {
			accuracy = fmt.Sprintf("%.4f", *l.Accuracy)
		}
		if l.Note != "" {
			accuracy = "failed, version " + fmt.Sprint(l.Version) + " stays: " + l.Note
		}
		return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%s", l.Topic, l.Version, l.Pages, l.Labelled, l.SelfLabelled, accuracy)
	}))
}
