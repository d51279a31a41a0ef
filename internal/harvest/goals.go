package harvest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/metadata"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// askPerson updates DBLP's listing of the person whose papers are the goal.
func (s *PaperSources) askPerson(ctx context.Context, goal string, report func(string)) (missing []gap, err error) {
	pid := gleaner.ParseGoal(goal).Author
	err = enter(ctx, s, SourceDBLP, goal, "papers", func() ([]gleaner.Paper, error) {
		report("the papers of " + pid)
		return s.DBLP.PapersOf(ctx, pid)
	})
	if _, ok := errors.AsType[metadata.ErrBadAnswer](err); ok {
		return []gap{{SourceDBLP, pid, err}}, nil
	}
	return nil, err
}

// byDOI is a source that knows papers by their DOIs.
type byDOI interface {
	Name() string
	ByDOI(ctx context.Context, dois []string) ([]gleaner.Paper, error)
}

// titles returns the source that completes lists of bare DOIs.
func (s *PaperSources) titles() (byDOI, bool) {
	src, ok := s.Sources["crossref"].(byDOI)
	return src, ok
}

// Listed returns the papers of a list that was entered, completed from the record, so that
// known authors have their ids.
func Listed(ctx context.Context, s *PaperSources, goal string, years gleaner.Years) ([]gleaner.Paper, error) {
	names := []string{SourceFile}
	if src, ok := s.titles(); ok {
		names = append(names, src.Name())
	}
	records, err := s.merged(ctx, names, goal, years)
	return metadata.Papers(records), err
}

// askTitles requests the papers of a list that has only their DOIs.
func (s *PaperSources) askTitles(ctx context.Context, goal string, years gleaner.Years, report func(string)) error {
	src, ok := s.titles()
	if !ok {
		return nil
	}
	listed, err := s.DB.Listing(ctx, SourceFile, goal, years)
	if err != nil {
		return err
	}
	had, err := s.DB.Listing(ctx, src.Name(), goal, gleaner.Years{})
	if err != nil {
		return err
	}
	known := each.Set(had, func(p gleaner.Paper) string { return p.DOI })
	var open []string
	keys := map[string]string{} // in the list, by DOI
	for _, p := range listed {
		if p.Title == "" && !known[p.DOI] {
			open = append(open, p.DOI)
			keys[p.DOI] = p.Key
		}
	}
	for some := range slices.Chunk(open, titlesAtOnce) {
		report(fmt.Sprintf("%s: the papers of %d DOIs", src.Name(), len(open)))
		found, err := src.ByDOI(ctx, some)
		for i := range found {
			found[i].Key = keys[found[i].DOI] // papers without titles cannot be compared
		}
		if len(found) > 0 {
			err = errors.Join(err, s.Enter(ctx, src.Name(), goal, fmt.Sprintf("list from %d", len(had)), found))
		}
		if err != nil {
			return err
		}
		had = append(had, found...)
	}
	return nil
}

// titlesAtOnce is how many papers are requested before they are entered. An interrupted
// harvest continues after them.
const titlesAtOnce = 400

// untitled removes papers for which no source knows more than the DOI, since they cannot be
// recognised. known are the gaps of the sources.
func untitled(records []metadata.Record, known []gap) (titled []metadata.Record, missing []gap) {
	for _, r := range records {
		if r.Paper.Title == "" {
			missing = append(missing, gap{SourceFile, r.Paper.DOI, errNoTitle{r.Paper.DOI, len(known) > 0}})
			continue
		}
		titled = append(titled, r)
	}
	return titled, append(known, missing...)
}

// errNoTitle reports a DOI for which no title is known.
type errNoTitle struct {
	doi   string
	waits bool // for a source that did not answer
}

func (e errNoTitle) Error() string {
	if e.waits {
		return "no title is known yet for the DOI " + e.doi
	}
	return "Crossref knows no paper by the DOI " + e.doi
}

// ScopeHost is the scope of a whole host.
const ScopeHost = store.ScopeHost

// SeedSite adds the URL of a site that a person named to the frontier. Its scope is the URL's
// directory or the whole host.
func (s *Stages) SeedSite(ctx context.Context, id, url, scope string, report func(host string, so Seeded)) (Seeded, error) {
	host, prefix := weburl.Host(url), "/"
	if scope != ScopeHost {
		prefix = weburl.DirectoryPrefix(url)
	}
	e := frontier.Entry{Role: frontier.Member, Candidate: page.Candidate{Link: page.Link{URL: url, Source: page.SourceSeed}, Queue: seedQueue, Priority: seedPriority}}
	return s.seed(ctx, id, "site", map[string][]frontier.Entry{host: {e}}, map[string]map[string]string{host: {prefix: "site"}}, report)
}
