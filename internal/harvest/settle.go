package harvest

import (
	"context"
	"slices"
	"time"

	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/guard"
	"gleaner/internal/homepage"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Settled is the result of SettleHomepages.
type Settled struct {
	At time.Time `json:"at"` // decisions made until then do not change in the next pass
}

// SettleHomepages assigns a page that several of the harvest's authors were given to the one
// with the strongest evidence. It follows each pass, and adds the pages fetched meanwhile to
// the local index: within a pass, pages fetched for one author must not be found for another.
func (s *Stages) SettleHomepages(ctx context.Context, id string) (Settled, error) {
	if err := s.search(id).Settle(ctx); err != nil {
		return Settled{}, err
	}
	if err := s.indexPages(ctx); err != nil {
		return Settled{}, err
	}
	at, err := s.DB.Now(ctx)
	return Settled{at}, err
}

// search returns the search for the authors of a harvest, over the record.
func (s *Stages) search(harvest string) homepage.Search {
	return homepage.Search{Finder: s.Finder, Book: book{Homepages{s.DB}, harvest}}
}

// book is the homepage.Book of a harvest's authors, over the record.
type book struct {
	Homepages
	harvest string
}

// Homepages is the record of the homepages of authors, with what people said of them.
type Homepages struct{ DB *store.DB }

func (b book) Decisions(ctx context.Context, authorIDs []string, until time.Time) ([]evidence.Decision, error) {
	return b.DB.Decisions(ctx, authorIDs, until)
}

func (b book) All(ctx context.Context) ([]evidence.Decision, error) {
	return b.DB.HarvestDecisions(ctx, b.harvest)
}

func (b book) ApplyOverrides(ctx context.Context, d evidence.Decision) (evidence.Decision, error) {
	words, err := b.DB.Overrides(ctx, d.Author.ID())
	return applyOverrides(d, words), err
}

func (b book) Save(ctx context.Context, d evidence.Decision) error { return b.save(ctx, d) }

func (b book) Replace(ctx context.Context, d evidence.Decision, were []evidence.Candidate) error {
	return b.DB.ReviseDecision(ctx, d.Author.ID(), func(on evidence.Decision) (evidence.Decision, []store.Homepage, bool) {
		return d, kept(d), homepage.SameHomepages(on.Homepages, were)
	})
}

// applyOverrides applies what people said of an author's homepages to a decision. The pages
// that they named come first, the last named before all; those that they denied are removed.
func applyOverrides(d evidence.Decision, words []store.Override) evidence.Decision {
	d.Homepages = slices.Clone(d.Homepages)
	for _, w := range words {
		same := func(c evidence.Candidate) bool { return weburl.Key(c.URL) == weburl.Key(w.URL) }
		d.Homepages = slices.DeleteFunc(d.Homepages, same)
		d.Places = slices.DeleteFunc(slices.Clone(d.Places), func(p evidence.Place) bool { return weburl.Key(p.URL) == weburl.Key(w.URL) })
		if w.Word == "is" {
			for i, p := range d.Places {
				if weburl.Key(p.Of) == weburl.Key(w.URL) {
					d.Places[i].Of = w.URL
				}
			}
			d.Homepages = slices.Insert(d.Homepages, 0, evidence.Candidate{URL: w.URL, Source: "user", Rule: "a person said so", Priority: homepage.High, Score: 1, Kept: true})
		}
	}
	switch {
	case len(d.Homepages) > 0:
		d.NotFound = ""
	case d.NotFound == "":
		d.NotFound = Denied
	}
	return d
}

// Denied is the reason of NotFound if a person denied the homepage that was found.
const Denied = "a person said that the page found is not theirs"

func (h Homepages) decision(ctx context.Context, authorID string) (evidence.Decision, error) {
	ds, err := h.DB.Decisions(ctx, []string{authorID}, time.Time{})
	if err != nil || len(ds) == 0 {
		return evidence.Decision{}, err
	}
	return ds[0], nil
}

// Withdraw removes homepages for which only the name was evidence and whose crawls found
// nothing. The next search for their authors leaves them out.
func (h Homepages) Withdraw(ctx context.Context, barren []evidence.Barren) error {
	for _, b := range barren {
		err := h.DB.ReviseDecision(ctx, b.Author, func(d evidence.Decision) (evidence.Decision, []store.Homepage, bool) {
			d, is := homepage.Withdraw(d, b.URL, b.Brought)
			if len(d.Homepages) == 0 {
				d.NextTry = time.Now()
			}
			return d, kept(d), is
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Confirm confirms homepages of a harvest's authors for which only the name was evidence, if
// papers of the author were found there: on the pages themselves, linked from them, or at
// the places of papers to which they lead.
func (h Homepages) Confirm(ctx context.Context, id string) error {
	decisions, err := h.DB.HarvestDecisions(ctx, id)
	if err != nil {
		return err
	}
	var authors []string
	for _, d := range decisions {
		if len(homepage.Provisional(d)) > 0 {
			authors = append(authors, d.Author.ID())
		}
	}
	found, err := h.DB.FoundOf(ctx, authors)
	if err != nil {
		return err
	}
	for _, author := range authors {
		err := h.DB.ReviseDecision(ctx, author, func(d evidence.Decision) (evidence.Decision, []store.Homepage, bool) {
			changed := false
			for _, c := range homepage.Provisional(d) {
				if n := papersAt(d, c, found[author]); n > 0 {
					d, _ = homepage.Confirm(d, c.URL, n)
					changed = true
				}
			}
			return d, kept(d), changed
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// papersAt counts the papers found at a homepage and at the places to which it leads.
func papersAt(d evidence.Decision, home evidence.Candidate, found []store.FoundAt) int {
	at := []store.Homepage{{URL: home.URL}}
	for _, p := range d.Elsewhere() {
		if p.Of == home.URL {
			at = append(at, store.Homepage{URL: p.URL, Scope: p.Scope})
		}
	}
	papers := map[string]bool{}
	for _, f := range found {
		for _, url := range []string{f.URL, f.Parent} {
			if slices.ContainsFunc(at, func(h store.Homepage) bool { return h.Holds(url) }) {
				papers[f.Paper] = true
			}
		}
	}
	return len(papers)
}

func (h Homepages) save(ctx context.Context, d evidence.Decision) error {
	return h.DB.SaveDecision(ctx, d, kept(d))
}

// kept returns the rows of the homepages of a decision, and after them of its places of papers.
func kept(d evidence.Decision) (all []store.Homepage) {
	for i, c := range d.Homepages {
		all = append(all, store.Homepage{AuthorID: d.Author.ID(), URL: c.URL, Host: weburl.Host(c.URL), Rank: i, Source: c.Source, Score: c.Score})
	}
	for _, p := range d.Elsewhere() {
		all = append(all, store.Homepage{AuthorID: d.Author.ID(), URL: p.URL, Host: weburl.Host(p.URL), Rank: len(all), Source: evidence.SourcePapers, Scope: p.Scope})
	}
	return all
}

// pagesPerIndex is how many pages are indexed at once; each may have evidenceBytes.
const pagesPerIndex = 8

// indexPages adds the pages that were fetched as evidence to the local index.
func (s *Stages) indexPages(ctx context.Context) error {
	if s.Index == nil {
		return nil
	}
	for {
		cached, err := s.DB.FreshPages(ctx, pagesPerIndex)
		if err != nil || len(cached) == 0 {
			return err
		}
		var pages []evidence.Page
		for _, c := range cached {
			if c.Outcome != "success" || c.FinalURL != c.URL {
				continue
			}
			_ = guard.Logged(ctx, s.Log, c.FinalURL, func() error { // it is marked as indexed already
				p, err := page.ParseContext(ctx, c.FinalURL, c.Header, c.Body)
				if err == nil {
					pages = append(pages, Indexed(p)...)
				}
				return err
			})
		}
		err = guard.Logged(ctx, s.Log, "pages for the index", func() error { return s.Index.PutPages(ctx, pages) })
		if err != nil && !guard.Panicked(err) {
			return err
		}
	}
}

// Indexed returns pages for the local index, without those that say that they do not exist, or
// are not to be indexed.
func Indexed(pages ...*page.Page) (kept []evidence.Page) {
	for _, p := range pages {
		if !p.SoftMissing && p.Wall == page.NoWall && !p.NoIndex && p.Text != "" {
			kept = append(kept, evidence.Page{URL: p.URL, Title: p.Title, Text: p.Text})
		}
	}
	return kept
}
