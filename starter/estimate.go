package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gleaner/activities"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
	"gleaner/workflows"
)

// estimated is what `harvest --dry-run` says of one goal.
type estimated struct {
	Goal  string        `json:"goal"`
	Years gleaner.Years `json:"years"`
	From  string        `json:"from"` // where the papers are listed
	harvest.Estimate
	Listed []wantedPaper `json:"list"`
}

// wantedPaper is one of its papers.
type wantedPaper struct {
	Paper   string   `json:"paper"`
	Title   string   `json:"title"`
	Year    int      `json:"year"`
	DOI     string   `json:"doi,omitempty"`
	Authors []string `json:"authors"`
	Held    string   `json:"held,omitempty"`  // why it counts as held
	Found   bool     `json:"found,omitempty"` // a document on record is it
}

// state says how the paper stands before the harvest.
func (p wantedPaper) state() string {
	switch {
	case p.Held != "":
		return store.PaperHeld
	case p.Found:
		return store.PaperFound
	}
	return "wanted"
}

// estimate says what the harvests would have to do. Nothing is kept of it, and no site
// is asked; a catalogue is where the record does not have the papers.
func (c *cli) estimate(ctx context.Context, names []string, years gleaner.Years, f *harvestFlags) error {
	all, err := c.estimates(ctx, names, years, f)
	return printOne(c, all, err, func(w io.Writer, all []estimated) error {
		for _, e := range all {
			if err := e.write(w); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *cli) estimates(ctx context.Context, names []string, years gleaner.Years, f *harvestFlags) ([]estimated, error) {
	a, err := c.Application(ctx)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var more []gleaner.Paper
	if f.holdings != "" {
		if more, err = c.readPapers(ctx, f.holdings); err != nil {
			return nil, err
		}
	}
	cfg, err := c.Settings()
	if err != nil {
		return nil, err
	}
	pace := harvest.Pace{Delay: max(cfg.Web.Delay, f.options.Delay), Search: cfg.Search.Delay, Authors: workflows.BatchesAtOnce * harvest.ParallelAuthors, Sites: cmp.Or(f.options.Window, workflows.DefaultWindow),
		Most: cmp.Or(f.options.MaxPages, cfg.Crawl.MaxPages)}
	all := []estimated{}
	for _, name := range names {
		name, years := splitYears(name, years)
		e := estimated{Years: years}
		papers, err := c.papersToBe(ctx, a, name, years, f, &e)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(papers, func(a, b gleaner.Paper) int { return cmp.Compare(a.Year, b.Year) })
		held, err := a.Stages.Held(ctx, papers, more...)
		if err != nil {
			return nil, err
		}
		pace.Harvest = activities.NewHarvest(gleaner.ParseGoal(e.Goal), years, f.options).ID
		again := f.options.Again
		pace.All = again == activities.AgainAll || again == "" && completed(ctx, c, pace.Harvest)
		pace.Due = again != activities.AgainNone
		if e.Estimate, err = a.Stages.Estimate(ctx, papers, held, pace); err != nil {
			return nil, err
		}
		e.Listed = each.Of(papers, func(p gleaner.Paper) wantedPaper {
			return wantedPaper{p.Key, p.Title, p.Year, p.DOI, gleaner.Names(p.Authors), held[p.Key], e.Found[p.Key]}
		})
		all = append(all, e)
	}
	return all, nil
}

// papersToBe are the papers that a harvest would be after.
func (c *cli) papersToBe(ctx context.Context, a *app.App, name string, years gleaner.Years, f *harvestFlags, e *estimated) ([]gleaner.Paper, error) {
	given := gleaner.ParseGoal(name)
	if given.Site != "" {
		return nil, fmt.Errorf("%w: --dry-run tells of papers, and what a site has is not known before it is asked", program.ErrUsage)
	}
	if f.sources.papers != "" {
		e.Goal, e.From = name, f.sources.papers
		if given.List != "" {
			_, of, err := papersOfList(c.Err, name, years, f.sources.papers)
			return of, err
		}
		key, err := venueKey(ctx, a, name, &f.sources)
		if err == nil {
			err = f.sources.replacesNone(ctx, a.DB, key)
		}
		if err != nil {
			return nil, err
		}
		return papersOfFile(c.Err, name, years, f.sources.papers)
	}
	progress := c.Progress("papers of " + name)
	defer progress.End()
	say := func(said string) {
		progress.Show("papers of " + name + ": " + said)
		f.listing(said)
	}
	a.Catalogues.DBLP.OnRetry(say)
	e.From = harvest.SourceDBLP
	if given.Author != "" {
		who, err := a.Catalogues.DBLP.ResolveAuthor(ctx, given.Author)
		if err != nil {
			return nil, err
		}
		e.Goal = gleaner.Goal{Author: who.PID}.String()
		papers, err := a.Catalogues.DBLP.PapersOf(ctx, who.PID)
		return ofYears(papers, years), err
	}
	if given.List != "" {
		e.Goal, e.From = name, "record"
		papers, err := harvest.Listed(ctx, a.Stages.Papers, name, years)
		if err == nil && len(papers) == 0 {
			err = program.Unknown{Reason: fmt.Errorf("no list is called %s; enter it first", name)}
		}
		return papers, err
	}
	key, err := venueKey(ctx, a, name, &f.sources)
	if err != nil {
		return nil, err
	}
	e.Goal = key
	return e.papersOfVenue(ctx, a, say)
}

// papersOfVenue are the papers of its venue, from the record or else from DBLP.
func (e *estimated) papersOfVenue(ctx context.Context, a *app.App, say func(string)) ([]gleaner.Paper, error) {
	papers, err := a.DB.Papers(ctx, e.Goal, e.Years)
	listed := false
	if err == nil && len(papers) > 0 {
		listed, err = a.DB.Listed(ctx, e.Goal, e.Years)
	}
	if err != nil || listed {
		e.From = "record"
		return papers, err
	}
	return a.Catalogues.DBLP.List(ctx, gleaner.Venue{Key: e.Goal}, e.Years, func(done, of int) {
		say(fmt.Sprintf("%d of %d volumes", done, of))
	})
}

func ofYears(papers []gleaner.Paper, years gleaner.Years) (in []gleaner.Paper) {
	return each.Where(papers, func(p gleaner.Paper) bool { return years.Contains(p.Year) })
}

// listing is where papers of an estimate come from, in words.
func (e estimated) listing() string {
	switch e.From {
	case "record":
		return "as the record has them"
	case harvest.SourceDBLP:
		return "as DBLP lists them now"
	}
	return "of " + e.From
}

func (e estimated) write(w io.Writer) error {
	for _, p := range e.Listed {
		fmt.Fprintf(w, "%-6s  %s  %s\n        %s\n", p.state(), cmp.Or(biblio.Year(p.Year), "-"),
			cmp.Or(p.Title, p.DOI), cmp.Or(strings.Join(p.Authors, ", "), "-"))
	}
	fmt.Fprintln(w)
	return e.summary(w)
}

// summary says how much the harvest would be, a line each.
func (e estimated) summary(w io.Writer) error {
	found := each.Count(e.Listed, func(p wantedPaper) bool { return p.state() == store.PaperFound })
	fmt.Fprintf(w, "%s: %s %s, %d held, %d wanted, %d of these found already\n",
		e.Goal, text.Count(e.Papers, "paper"), e.listing(), e.Held, e.Wanted, found)
	untitled := each.Count(e.Listed, func(p wantedPaper) bool { return p.Title == "" })
	if untitled > 0 {
		fmt.Fprintf(w, "of %s only the DOI is known here; the harvest asks Crossref for titles and authors\n", text.Count(untitled, "paper"))
	}
	fmt.Fprintf(w, "authors of wanted papers: %d; of %d a homepage is known, %d were looked for in vain of late, %d are to be looked for\n", e.Authors, e.Known.Found, e.Known.InVain, e.ToFind)
	fmt.Fprintf(w, "sites: %d known, %d of them crawled before (with %s to ask); about %d new ones\n", e.Known.Sites, e.Known.Crawled, text.Count(e.Known.Waiting, "link"), e.NewSites)
	took := "how long that takes is not known before more is on record"
	seconds := func(n float64) string { return program.Span(time.Duration(n * float64(time.Second))) }
	switch least, most := seconds(e.Least), seconds(e.Seconds); {
	case e.Assumed:
	case least == most:
		took = most
	default:
		took = least + " to " + most
	}
	fmt.Fprintf(w, "about %s (%d for homepages, %d of crawls); %s\n", text.Count(e.Requests, "request"), e.Looking, e.Crawling, took)
	for _, b := range e.Basis {
		fmt.Fprintln(w, "  by", b)
	}
	_, err := fmt.Fprintln(w, "No harvest was started and no site was asked. Open copies that catalogues know may save some of it; hosts that answer slowly take longer.")
	return err
}
