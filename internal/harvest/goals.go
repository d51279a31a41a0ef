package harvest

import (
	"context"
	"errors"
	"time"

	"gleaner/internal/gleaner"
	"gleaner/internal/metadata"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// askPerson brings up to date what DBLP lists of the person whose papers are the goal.
func (s *Stages) askPerson(ctx context.Context, goal string, report func(string)) (missing []gap, err error) {
	const volume = "papers"
	at, err := s.DB.ListedAt(ctx, SourceDBLP, goal, volume)
	if err != nil || time.Since(at) < listingAge {
		return nil, err
	}
	pid := gleaner.ParseGoal(goal).Author
	report("the papers of " + pid)
	papers, err := s.DBLP.PapersOf(ctx, pid)
	if err == nil {
		err = s.Enter(ctx, SourceDBLP, goal, volume, papers)
	}
	var bad metadata.ErrBadAnswer
	if errors.As(err, &bad) {
		return []gap{{SourceDBLP, pid, err}}, nil
	}
	return nil, err
}

// ScopeHost is the scope of a whole host; every other is the path of a homepage, or
// the directory of a site that a person named.
const ScopeHost = "host"

// SeedSite gives a site that a person named to the frontier: the URL, with its
// directory or the whole host as what may be crawled there.
func (s *Stages) SeedSite(ctx context.Context, id, url, scope string, report func(host string, so Seeded)) (Seeded, error) {
	host, prefix := weburl.Host(url), "/"
	if scope != ScopeHost {
		prefix = weburl.DirectoryPrefix(url)
	}
	e := frontier.Entry{Role: frontier.Member, Candidate: page.Candidate{Link: page.Link{URL: url, Source: page.SourceSeed}, Queue: seedQueue, Priority: seedPriority}}
	return s.seed(ctx, id, "site", map[string][]frontier.Entry{host: {e}}, map[string]map[string]string{host: {prefix: "site"}}, report)
}
