package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/each"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/topic"
	"gleaner/internal/web/weburl"
)

func collectionsJudge(c *cli) *cobra.Command {
	return &cobra.Command{Use: "judge NAME FILE", Short: "Say how precise collections are, by a person's judgements of their pages", Args: args(2, "the name of collections and a file of judgements"),
		Long: `Say how many of the first 5, 10, 20 … entries of each topic's collection are about it, by
a file of judgements: an address, 1 or 0, and perhaps the topic, parted by tabs, one a
line. Entries that nobody judged do not count. Where the collections are made with
"starter collect --retrain", the topic's classifier learns from these pages, too, when it learns anew; from a
page that is in no collection where its line names the topic.`,
		Example: "  starter collections judge math judged.tsv",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			raw, err := readBounded(args[1])
			if err != nil {
				return fmt.Errorf("%w: %w", program.ErrUsage, err)
			}
			judged, err := topic.ReadJudgements(bytes.NewReader(raw))
			if err != nil {
				return fmt.Errorf("%w: %s: %w", program.ErrUsage, args[1], err)
			}
			record := collections.In(a.DB)
			got, err := record.Get(ctx, args[0])
			if err != nil {
				return err
			}
			if err := namesTopics(got, judged); err != nil {
				return fmt.Errorf("%w: %s, %w", program.ErrUsage, args[1], err)
			}
			entries, err := record.Entries(ctx, got.ID, "")
			if err != nil {
				return err
			}
			if err := teachJudged(ctx, c, record, got, entries, judged); err != nil {
				return err
			}
			return sayRanks(c, ranksOf(entries, judged))
		})}
}

// namesTopics says which judgement names a topic that a collection has not.
func namesTopics(c collections.Collection, judged []topic.Judgement) error {
	_, topics, err := synthesis.RequestOf(c)
	if err != nil {
		return err
	}
	ids := each.Of(topics, func(t topic.Topic) string { return t.ID })
	slices.Sort(ids)
	for _, j := range judged {
		if j.Topic != "" && !slices.Contains(ids, j.Topic) {
			return fmt.Errorf("line %d: %s has no topic %.100q, but: %s", j.Line, c.Name, j.Topic, strings.Join(ids[:min(len(ids), namedTopics)], ", "))
		}
	}
	return nil
}

const namedTopics = 20 // of a collection, where a name is wrong

// teachJudged has the classifiers of a collection that learn anew do so from what a person
// judged.
func teachJudged(ctx context.Context, c *cli, record *collections.Record, got collections.Collection, entries []collections.Entry, judged []topic.Judgement) error {
	ask, _, err := synthesis.RequestOf(got)
	if err != nil || ask.Retrain == 0 {
		return err
	}
	said := each.Where(judgedPages(entries, judged), func(j collections.Judged) bool {
		return ask.Classifiers[j.Topic] != nil
	})
	kept, err := record.Judge(ctx, got.ID, said)
	if err == nil {
		fmt.Fprintf(c.Err, "%d of %d judgements are learnt from when classifiers learn anew\n", kept, len(judged))
	}
	return err
}

// judgedPages are the pages that a person judged, each once for a topic: that which the
// judgement names, or else those for which the page was collected.
func judgedPages(entries []collections.Entry, judged []topic.Judgement) (out []collections.Judged) {
	topics := map[string][]string{} // of entries, by identity
	for _, e := range entries {
		topics[identity(e.URL)] = append(topics[identity(e.URL)], e.Topic)
	}
	at := map[collections.Judged]int{} // in out, by topic and page
	add := func(t, url string, about bool) {
		key := collections.Judged{Topic: t, Hash: frontier.HashOf(canonical(url))}
		if _, met := at[key]; !met {
			at[key] = len(out)
			out = append(out, key)
		}
		out[at[key]].About = about
	}
	for _, j := range each.Where(judged, func(j topic.Judgement) bool { return j.Topic == "" }) {
		for _, t := range topics[identity(j.URL)] {
			add(t, j.URL, j.Relevant)
		}
	}
	for _, j := range judged { // which go before those
		if j.Topic != "" {
			add(j.Topic, j.URL, j.Relevant)
		}
	}
	return out
}

// rankedTopic is how precise a topic's collection is.
type rankedTopic struct {
	Topic string       `json:"topic"`
	Ranks []topic.Rank `json:"ranks"`
}

// ranksOf measures the collections of each topic. A judgement that names the topic
// goes before one that does not.
func ranksOf(entries []collections.Entry, judged []topic.Judgement) []rankedTopic {
	said := map[[2]string]*bool{} // by topic and identity of the URL
	for i := range judged {
		said[[2]string{judged[i].Topic, identity(judged[i].URL)}] = &judged[i].Relevant
	}
	out := []rankedTopic{}
	for len(entries) > 0 {
		var of []*bool
		name := entries[0].Topic
		for len(entries) > 0 && entries[0].Topic == name {
			key := identity(entries[0].URL)
			relevant := said[[2]string{name, key}]
			if relevant == nil {
				relevant = said[[2]string{"", key}]
			}
			of = append(of, relevant)
			entries = entries[1:]
		}
		out = append(out, rankedTopic{name, topic.Ranks(of)})
	}
	return out
}

// identity of an address, as people write it.
func identity(url string) string { return weburl.Key(canonical(url)) }

// canonical is the spelling of an address under which it is asked for.
func canonical(url string) string {
	if c, err := weburl.Canonical("", url); err == nil {
		return c
	}
	return url
}

func sayRanks(c *cli, all []rankedTopic) error {
	var l lines
	for _, t := range all {
		for _, r := range t.Ranks {
			precision := "–"
			if r.Judged > 0 {
				precision = fmt.Sprintf("%.3f", r.Precision)
			}
			l.add("%s\t%d\t%d\t%d\t%s", t.Topic, r.First, r.Judged, r.Relevant, precision)
		}
	}
	return c.printTable(all, "topic\tfirst\tjudged\trelevant\tprecision", l)
}
