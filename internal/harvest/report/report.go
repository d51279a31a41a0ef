package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/library/collection"
	"gleaner/internal/match"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// Summary holds the numbers of a report.
type Summary struct {
	Published int `json:"published"`
	Held      int `json:"held"`
	Wanted    int `json:"wanted"`
	Found     int `json:"found"`
	Missing   int `json:"missing"`
	HeldMet   int `json:"held_met"` // held papers of which a document was found too

	// Recall in the three forms of Zhuang et al. (figures 6 to 9), from 0 to 1, relative to
	// published papers, not to papers on the web.
	Recall  float64 `json:"recall"`        // of the wanted papers, those found
	Target  float64 `json:"recall_target"` // of all published, those found, held or not
	Covered float64 `json:"coverage"`      // of all published, those held or found
}

// Finish computes the other fields from Published, Held, Found and HeldMet.
func (s *Summary) Finish() {
	s.Wanted = s.Published - s.Held
	s.Missing = s.Wanted - s.Found
	s.Recall = share(s.Found, s.Wanted)
	s.Target = share(s.Found+s.HeldMet, s.Published)
	s.Covered = share(s.Held+s.Found, s.Published)
}

// RecallOf returns a recall in percent, or "–" without papers.
func RecallOf(recall float64, papers int) string {
	if papers == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*recall)
}

// YearOf returns a year as text, or "–" if unknown.
func YearOf(year int) string { return cmp.Or(biblio.Year(year), "–") }

// Whole returns the word for all papers of a goal: published, or listed for a list.
func Whole(goal string) string {
	if gleaner.ParseGoal(goal).List != "" {
		return "listed"
	}
	return "published"
}

func share(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }

// Year is the summary of one year (Zhuang et al., §4.2, recall ρ(i) by year).
type Year struct {
	Year int `json:"year"`
	Summary
}

// Reason is the reason why a paper is missing.
type Reason string

// Reasons, in the order of their distance from success.
const (
	Ambiguous      Reason = "ambiguous"                             // a possible document waits for review
	Rejected       Reason = "found but rejected"                    // a document was found, but rejected by a rule
	FetchFailed    Reason = "fetch failed"                          // a link to it was found, but could not be fetched
	Unidentifiable Reason = "no document can be told by this title" // "Preface", a list of names, a sentence
	NotYet         Reason = "not yet crawled"                       // a URL that may lead to it is still queued
	SiteRefused    Reason = "site refused"                          // every site of its authors refused or did not answer
	LeftOut        Reason = "left out by a list"                    // sites of its authors are on the blacklist, or not on the whitelist
	CutShort       Reason = "not all looked at"                     // its authors' sites were crawled up to a limit
	NotLinked      Reason = "nothing linked"                        // its authors' sites were crawled and do not link to it
	LedNowhere     Reason = "homepage led nowhere"                  // a homepage was crawled, but has no papers
	NoAnswer       Reason = "homepage did not answer"               // a homepage of an author
	NoHomepage     Reason = "no homepage found"                     // for any of its authors
)

// Reasons returns the reasons in the order of reports.
func Reasons() []Reason { return reasons }

var reasons = []Reason{Ambiguous, Rejected, FetchFailed, Unidentifiable, NotYet, LeftOut, SiteRefused, CutShort, NotLinked, LedNowhere, NoAnswer, NoHomepage}

// MissingPaper is a wanted paper that was not found.
type MissingPaper struct {
	Paper    string   `json:"paper"`
	Title    string   `json:"title"`
	Year     int      `json:"year"`
	Authors  []string `json:"authors"`
	Reason   Reason   `json:"reason"`
	Evidence []string `json:"evidence"` // lines of what was found, and where
}

// SiteLine is one site of the harvest.
type SiteLine struct {
	Host      string            `json:"host"`
	State     gleaner.SiteState `json:"state"`
	Reason    string            `json:"reason,omitempty"`
	Pages     int               `json:"pages"`
	Documents int               `json:"documents"`
	Accepted  int               `json:"accepted"`
	Found     int               `json:"found"`
	Failed    int               `json:"failed"`
	Waiting   int               `json:"waiting"`

	store.Pace `json:"pace"`
}

// Files counts the files read on all sites of a harvest.
type Files struct {
	Pages     int `json:"pages"`
	Documents int `json:"documents"`
	Accepted  int `json:"accepted"` // academic documents
	Papers    int `json:"papers"`   // papers by site; several files may be one paper
}

// Ending holds numbers from the end of a harvest. A report takes authors, homepages and files
// from it, and everything else from the record at the time of the report.
type Ending struct {
	At        time.Time `json:"at"`
	Found     int       `json:"found"`
	Missing   int       `json:"missing"`
	Authors   int       `json:"authors"`
	Homepages int       `json:"authors_with_homepage"`
	Files     Files     `json:"files"`
}

// Report is the result of a harvest.
type Report struct {
	Harvest   store.Harvest     `json:"harvest"`
	Title     string            `json:"title"`            // title of the venue, person or site
	Made      time.Time         `json:"made_at"`          // by the clock of the record
	Ended     *Ending           `json:"at_end,omitempty"` // nil while it runs
	Summary   Summary           `json:"summary"`
	Years     []Year            `json:"years"`
	Authors   int               `json:"authors"`
	Sought    int               `json:"authors_looked_for"` // authors with a search, now or earlier
	Homepages int               `json:"authors_with_homepage"`
	Open      int               `json:"authors_looked_for_again"`   // as counted by "stats failures"
	Elsewhere []store.Elsewhere `json:"papers_elsewhere,omitempty"` // sites with papers linked from authors' homepages
	Files     Files             `json:"files"`
	Answer    string            `json:"address_answered,omitempty"` // the answer of a site's address that is no page
	Documents map[string]int    `json:"documents"`                  // by class and state
	Counters  store.Counters    `json:"counters"`                   // results of all files
	Found     []store.Change    `json:"found"`                      // found papers by year and title; "lost" if gone from all places
	Missing   []MissingPaper    `json:"missing"`
	Reasons   map[Reason]int    `json:"reasons"`
	Sites     []SiteLine        `json:"sites"`
	Barred    []string          `json:"sites_not_asked,omitempty"` // paused or blacklisted sites with the reason
	Untitled  []string          `json:"not_listed,omitempty"`      // DOIs of a list for which no title is known
	Unasked   []string          `json:"unanswered,omitempty"`      // sources that listed no papers, and why
	LeftOut   map[string]int    `json:"left_out,omitempty"`        // links not requested, by limit or list

	Links store.LinkCounts `json:"links_on_record"` // accepted without review

	Barren []evidence.Barren `json:"-"` // homepages that led to no paper
	Took   time.Duration     `json:"-"` // to build it
}

// Build computes the report of a harvest.
func Build(ctx context.Context, db *store.DB, id string) (*Report, error) {
	h, err := db.FindHarvest(ctx, id)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	made, err := db.Now(ctx)
	if err != nil {
		return nil, err
	}
	r := &Report{Harvest: h, Made: made, Reasons: map[Reason]int{}, Documents: map[string]int{}}
	b := &builder{db: db, r: r}
	// missing runs before the counts, since crawls may find papers meanwhile.
	for _, step := range []func(context.Context) error{b.title, b.authors, b.documents, b.sites, b.missing, b.years, b.found} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	r.Took = time.Since(began)
	return r, nil
}

// builder fills a report from the record.
type builder struct {
	db *store.DB
	r  *Report
}

func (b *builder) title(ctx context.Context) (err error) {
	if b.r.Title, err = b.db.GoalTitle(ctx, b.r.Harvest.Venue); err == nil {
		b.r.Untitled, b.r.Unasked, err = b.db.NotListed(ctx, b.r.Harvest)
	}
	return err
}

func (b *builder) found(ctx context.Context) (err error) {
	missing := each.Set(b.r.Missing, func(m MissingPaper) string { return m.Paper })
	b.r.Found, err = b.db.Changes(ctx, b.r.Harvest, time.Time{})
	b.r.Found = slices.DeleteFunc(b.r.Found, func(c store.Change) bool { return missing[c.Paper] })
	slices.SortStableFunc(b.r.Found, func(a, b store.Change) int { return cmp.Or(a.Year-b.Year, cmp.Compare(a.Title, b.Title)) })
	return err
}

func (b *builder) years(ctx context.Context) error {
	tallies, err := b.db.YearTallies(ctx, b.r.Harvest.ID)
	if err != nil {
		return err
	}
	met, err := b.heldMet(ctx)
	if err != nil {
		return err
	}
	missing := map[int]int{}
	for _, m := range b.r.Missing {
		missing[m.Year]++
	}
	for _, t := range tallies {
		y := Year{Year: t.Year, Summary: Summary{Published: t.Published, Held: t.Held, Found: t.Published - t.Held - missing[t.Year], HeldMet: met[t.Year]}}
		y.Finish()
		b.r.Years = append(b.r.Years, y)
		b.r.Summary.HeldMet += y.HeldMet
		b.r.Summary.Published += t.Published
		b.r.Summary.Held += t.Held
		b.r.Summary.Found += y.Found
	}
	b.r.Summary.Finish()
	return nil
}

// heldMet counts by year the held papers with a document on a site of any harvest of the goal, so
// that all of their reports agree on a year. Documents are matched with wanted papers when they
// arrive, and with these when a report is made.
func (b *builder) heldMet(ctx context.Context) (map[int]int, error) {
	held, err := b.db.HeldPapers(ctx, b.r.Harvest.ID)
	if err != nil || len(held) == 0 {
		return nil, err
	}
	index, met := match.NewIndex(held), map[string]bool{}
	err = b.db.EachReadable(ctx, b.r.Harvest.Venue, func(batch []store.Readable) error {
		for _, r := range batch {
			for _, key := range collection.PapersIn(index, r) {
				met[key] = true
			}
		}
		return ctx.Err()
	})
	years := map[int]int{}
	for _, p := range held {
		if met[p.Key] {
			years[p.Year]++
		}
	}
	return years, err
}

func (b *builder) authors(ctx context.Context) error {
	c, err := b.db.HarvestCounts(ctx, b.r.Harvest.ID)
	b.r.Authors, b.r.Sought, b.r.Homepages = c.Authors, c.Decided, c.Homepages
	b.r.Files = Files{Pages: c.Pages, Documents: c.Documents, Accepted: c.Accepted}
	if err == nil {
		var q store.Questions
		q, err = b.db.StillOpen(ctx, b.r.Harvest.ID)
		b.r.Open = q.Authors
	}
	if err == nil {
		b.r.Elsewhere, err = b.db.PapersElsewhere(ctx, b.r.Harvest.ID)
	}
	if err == nil && b.r.ofSite() {
		b.r.Files.Papers, err = b.db.AcademicPapers(ctx, b.r.Harvest.Venue)
		if err == nil {
			b.r.Answer, err = AnswerOf(ctx, b.db, b.r.Harvest.Venue)
		}
	}
	if h := b.r.Harvest; c.Kept && h.CompletedAt != nil {
		b.r.Ended = &Ending{At: *h.CompletedAt, Found: c.Found, Missing: c.Wanted - c.Found, Authors: c.Authors, Homepages: c.Homepages,
			Files: Files{Pages: c.Pages, Documents: c.Documents, Accepted: c.Accepted}}
	}
	return err
}

// AnswerOf returns the answer of a site harvest's address if it is no page, "" for a page and for
// other harvests.
func AnswerOf(ctx context.Context, db *store.DB, venue string) (string, error) {
	site := gleaner.ParseGoal(venue).Site
	if site == "" {
		return "", nil
	}
	hash := frontier.HashOf(site)
	return db.AnswerOf(ctx, weburl.Host(site), hash[:])
}

func (b *builder) documents(ctx context.Context) error {
	counts, err := b.db.DocumentTallies(ctx, b.r.Harvest.ID)
	for _, c := range counts {
		b.r.Documents[c.State+" "+c.Class] += c.Documents
	}
	if err != nil {
		return err
	}
	b.r.Counters, err = b.db.HarvestCounters(ctx, b.r.Harvest.ID)
	return err
}

func (b *builder) sites(ctx context.Context) error {
	tallies, err := b.db.SiteTallies(ctx, b.r.Harvest.ID)
	for _, t := range tallies {
		b.r.Sites = append(b.r.Sites, SiteLine(t))
		if strings.HasPrefix(t.Reason, gleaner.SitePaused) || strings.HasPrefix(t.Reason, gleaner.Blacklisted) {
			b.r.Barred = append(b.r.Barred, t.Host+" ("+t.Reason+")")
		}
	}
	if err != nil {
		return err
	}
	if b.r.LeftOut, err = b.db.LeftOut(ctx, b.r.Harvest.ID); err != nil {
		return err
	}
	b.r.Links, err = b.db.LinkCounts(ctx, b.r.Harvest.ID)
	return err
}
