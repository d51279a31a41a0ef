package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/harvest"
	"gleaner/internal/homepage"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/text"
)

// writeExplained prints an author's candidates with the evidence of each.
func writeExplained(w io.Writer, e harvest.Explained) error {
	fmt.Fprintf(w, "%s (%s), %s in the record\n", e.Author.Name, e.Author.ID(), text.Count(len(e.Papers), "paper"))
	for _, word := range e.Words {
		fmt.Fprintf(w, "a person said: %s %s their homepage\n", word.URL, strings.ReplaceAll(word.Word, "-", " "))
	}
	for _, h := range e.Kept {
		if h.Scope != "" {
			continue
		}
		fmt.Fprintf(w, "homepage %d: %s  (%s, score %.3f)\n", h.Rank+1, h.URL, h.Source, h.Score)
	}
	if e.Decision == nil {
		_, err := fmt.Fprintln(w, "not looked for yet")
		return err
	}
	d := e.Decision
	for _, c := range homepage.Provisional(*d) {
		fmt.Fprintf(w, "%s is taken by the name alone: its crawl confirms it, or withdraws it\n", c.URL)
	}
	for _, p := range d.Elsewhere() {
		fmt.Fprintf(w, "papers at %s  (crawled: %s; linked from %s; %s)\n", p.URL, p.Scope, p.Of, p.Rule)
	}
	if d.NotFound != "" {
		fmt.Fprintln(w, "not found:", d.NotFound)
	}
	fmt.Fprintf(w, "%s, %s asked for\n", text.Count(d.Searches, "search"), text.Count(d.Fetches, "page"))
	for _, p := range d.Problems {
		fmt.Fprintln(w, "problem:", p)
	}
	for i, c := range d.Candidates {
		writeCandidate(w, i+1, c)
	}
	return nil
}

func writeCandidate(w io.Writer, n int, c evidence.Candidate) {
	mark := " "
	if c.Kept {
		mark = "*"
	}
	fmt.Fprintf(w, "%s%3d. %s\n", mark, n, c.URL)
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(w, "       %-9s %s\n", label, value)
		}
	}
	line("title", c.Title)
	source := c.Source
	if c.Rank > 0 {
		source += ", result " + strconv.Itoa(c.Rank)
	}
	if c.Via != "" {
		source += ", by way of " + c.Via
	}
	line("source", source)
	line("rule", c.Rule)
	if !c.Fetched {
		return
	}
	line("score", fmt.Sprintf("%.3f  %s", c.Score, c.Priority))
	var features []string
	for _, f := range slices.Sorted(maps.Keys(c.Features)) {
		features = append(features, f+" "+strconv.FormatFloat(c.Features[f], 'g', 3, 64))
	}
	line("features", strings.Join(features, ", "))
}

// searchBudget is what `starter stats searches` prints.
type searchBudget struct {
	engineBudget                  // of the first of the settings
	Others       []engineBudget   `json:"others,omitempty"`
	Providers    []store.Spending `json:"providers"` // all that were ever asked
	Local        int              `json:"local_index_pages"`
}

// engineBudget is that of one search engine.
type engineBudget struct {
	Provider string     `json:"provider"` // "none" for none
	Spent    int        `json:"spent"`    // in the present period
	Limit    int        `json:"limit"`    // 0 is none
	Until    *time.Time `json:"until,omitempty"`
}

func budget(ctx context.Context, a *app.App) (searchBudget, error) {
	b := searchBudget{engineBudget: engineBudget{Provider: "none"}}
	for i, s := range a.Search {
		spent, limit, until, err := s.Usage(ctx)
		if err != nil {
			return b, err
		}
		e := engineBudget{s.Name(), spent, limit, &until}
		if i == 0 {
			b.engineBudget = e
		} else {
			b.Others = append(b.Others, e)
		}
	}
	var err error
	if b.Providers, err = a.DB.Searches().Spending(ctx); err != nil {
		return b, err
	}
	b.Local, err = a.DB.IndexedPages(ctx)
	return b, err
}

func writeBudget(w io.Writer, b searchBudget) error {
	for _, e := range append([]engineBudget{b.engineBudget}, b.Others...) {
		switch {
		case e.Until == nil:
			fmt.Fprintln(w, "no web search is set (setting search)")
		case e.Limit == 0:
			fmt.Fprintf(w, "%s: %d searches asked until now, no limit (setting search-budget); the period ends %s\n", e.Provider, e.Spent, e.Until.Format(time.DateOnly))
		default:
			fmt.Fprintf(w, "%s: %d of %d searches asked, %d left until %s\n", e.Provider, e.Spent, e.Limit, max(0, e.Limit-e.Spent), e.Until.Format(time.DateOnly))
		}
	}
	if len(b.Providers) > 0 {
		err := table(w, "PROVIDER\tASKED\tSINCE\tANSWERS KEPT", rowsOf(b.Providers, func(p store.Spending) string {
			return fmt.Sprintf("%s\t%d\t%s\t%d", p.Provider, p.Requests, p.Since.Format(time.DateOnly), p.Kept)
		}))
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "local index: %s\n", text.Count(b.Local, "page"))
	return err
}
