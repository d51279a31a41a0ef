package harvest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/harvest"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/web/weburl"
)

// namesakes is the page by which Poe is known in a circle.
const namesakes = "http://people.example.org/~apoe/"

// byNameAlone is a circle in which nothing but the name speaks for Poe's page, and no
// site is being crawled.
func byNameAlone(t *testing.T) (*app.App, string) {
	a, id := circled(t)
	findAll(t, a, id, smallKey, 100)
	require.Equal(t, namesakes, best(t, a, id)["1/2"])
	d := explained(t, a, poe)
	for _, c := range []*evidence.Candidate{&d.Homepages[0], find(d.Candidates, namesakes)} {
		c.Features = map[string]float64{"root": 1, "name_title": 1, "name_url": 1, "documents": 1}
	}
	require.NoError(t, a.DB.SaveDecision(t.Context(), d, []store.Homepage{{AuthorID: "1/2", URL: namesakes, Host: "people.example.org", Source: "venue"}}))
	for _, home := range []string{namesakes, "http://" + roeHost + "/~roe/"} {
		joined(t, a, id, weburl.Host(home))
		met(t, a, frontier.Page, home, "", "success")
	}
	return a, id
}

// joined makes a host a site of a harvest whose crawl has ended; id "" is of no harvest.
func joined(t *testing.T, a *app.App, id, host string) {
	site, err := store.EnsureSite(t.Context(), a.DB.Pool, host)
	require.NoError(t, err)
	storetest.Exec(t, a.DB.Pool, `WITH s AS (UPDATE sites SET state='done' WHERE id=$2)
		INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, $2, 'homepage' WHERE $1 <> '' ON CONFLICT DO NOTHING`, id, site)
}

// met records a URL that a crawl met.
func met(t *testing.T, a *app.App, state frontier.State, url, parent, outcome string) {
	t.Helper()
	joined(t, a, "", weburl.Host(url))
	hash := frontier.HashOf(url)
	storetest.Exec(t, a.DB.Pool, `INSERT INTO urls (site_id, hash, url, parent, state, outcome, role) SELECT id, $2, $3, $4, $5, $6, CASE WHEN $4 LIKE '%//' || host || '/%' THEN 0 ELSE 2 END FROM sites WHERE host=$1
		ON CONFLICT (site_id, hash) DO UPDATE SET state=EXCLUDED.state, outcome=EXCLUDED.outcome`, weburl.Host(url), hash[:], url, parent, state, outcome)
}

// took records a document that a crawl took.
func took(t *testing.T, a *app.App, url, parent, state string) {
	t.Helper()
	met(t, a, frontier.Document, url, parent, "success")
	hash := frontier.HashOf(url)
	storetest.Exec(t, a.DB.Pool, `WITH d AS (INSERT INTO documents (sha256, sha1, md5, bytes, kind, state) VALUES ($3, '', '', 1, 'pdf', $5))
		INSERT INTO locations (hash, asked, sha256, site_id, url, parent) SELECT $2, $2, $3, id, $3, $4 FROM sites WHERE host=$1`, weburl.Host(url), hash[:], url, parent, state)
}

// linked records that a page links to a file.
func linked(t *testing.T, a *app.App, page, file string) {
	t.Helper()
	of, to := frontier.HashOf(page), frontier.HashOf(file)
	storetest.Exec(t, a.DB.Pool, `INSERT INTO links (site_id, page, target, first_seen, last_seen) SELECT id, $2, $3, current_date, current_date FROM sites WHERE host=$1 ON CONFLICT DO NOTHING`,
		weburl.Host(page), of[:], to[:])
}

func barren(t *testing.T, a *app.App, id string) (urls []string) {
	for _, b := range reported(t, a, id).Barren {
		urls = append(urls, b.URL)
	}
	return urls
}

// TestWhatIsNotKnownWithdrawsNothing: a homepage led nowhere only where it was read, all
// that it links to answered and was examined, and none of that is academic.
func TestWhatIsNotKnownWithdrawsNothing(t *testing.T) {
	t.Parallel()
	a, id := byNameAlone(t)
	const pdf = namesakes + "p0.pdf"
	took(t, a, namesakes+"menu.pdf", namesakes, "rejected")
	require.Contains(t, barren(t, a, id), namesakes, "all is known")
	for name, know := range map[string]func(){
		"it was not read":        func() { met(t, a, frontier.Failed, namesakes, "", "timeout") },
		"robots.txt forbids it":  func() { met(t, a, frontier.Gone, namesakes, "", "robots-denied") },
		"it has moved":           func() { met(t, a, frontier.Moved, namesakes, "", "redirect-off-host") },
		"nobody asked for it":    func() { _, _ = a.DB.Pool.Exec(t.Context(), `DELETE FROM urls WHERE url=$1`, namesakes) },
		"a file did not answer":  func() { met(t, a, frontier.Failed, pdf, namesakes, "busy") },
		"a file is shut":         func() { met(t, a, frontier.Gone, pdf, namesakes, "robots-denied") },
		"a file is too large":    func() { met(t, a, frontier.Gone, pdf, namesakes, "body-too-large") },
		"a limit kept pages out": func() { met(t, a, frontier.Skipped, namesakes+"more/", namesakes, "byte-limit") },
		"a file elsewhere is out": func() {
			joined(t, a, id, "ftp.example.org")
			met(t, a, frontier.Failed, "http://ftp.example.org/p0.pdf", namesakes, "busy")
		},
		"a file elsewhere waits": func() {
			joined(t, a, id, "ftp.example.org")
			met(t, a, frontier.Waiting, "http://ftp.example.org/p1.pdf", namesakes, "")
		},
		"a file is not examined yet": func() { took(t, a, pdf, namesakes, "new") },
		"a file cannot be examined":  func() { took(t, a, pdf, namesakes, "failed") },
		"another page led to it first": func() {
			joined(t, a, id, "www.example.ac.uk")
			took(t, a, "http://www.example.ac.uk/joint.pdf", "http://www.example.ac.uk/~chen/", "accepted")
			linked(t, a, namesakes, "http://www.example.ac.uk/joint.pdf")
		},
		"a file elsewhere was not wanted": func() { linked(t, a, namesakes, "http://arxiv.example.org/p0.pdf") },
		"a limit left a file out": func() {
			met(t, a, frontier.Skipped, pdf, namesakes, "path-too-deep")
			linked(t, a, namesakes, pdf)
		},
		"another harvest had it crawled": func() {
			took(t, a, pdf, namesakes, "accepted")
			storetest.Exec(t, a.DB.Pool, `DELETE FROM harvest_sites USING sites WHERE site_id=id AND host='people.example.org'`)
		},
	} {
		know()
		assert.NotContains(t, barren(t, a, id), namesakes, name)
		storetest.Exec(t, a.DB.Pool, `DELETE FROM urls WHERE url <> $1`, namesakes)
		storetest.Exec(t, a.DB.Pool, `WITH l AS (DELETE FROM links) DELETE FROM documents`)
		met(t, a, frontier.Gone, pdf, namesakes, "not-found")
		met(t, a, frontier.Skipped, namesakes+"shop/", namesakes, "ignore-list")
		linked(t, a, namesakes, pdf)
		met(t, a, frontier.Page, namesakes, "", "success")
		joined(t, a, id, "people.example.org")
		require.Contains(t, barren(t, a, id), namesakes, "as before")
	}
}

// TestAHomepageThatLedNowhere is taken back where the name alone spoke for it, and its
// author is looked for again, without it; one that a directory lists stays.
func TestAHomepageThatLedNowhere(t *testing.T) {
	t.Parallel()
	a, id := byNameAlone(t)
	r := reported(t, a, id)
	require.Len(t, r.Barren, 2)
	for range 2 { // the second time as after a crash
		require.NoError(t, harvest.Homepages{DB: a.DB}.Withdraw(t.Context(), r.Barren))
	}
	assert.Empty(t, best(t, a, id)["1/2"])
	assert.Equal(t, "http://"+roeHost+"/~roe/", best(t, a, id)["1/1"], "a directory lists it")
	d := explained(t, a, poe)
	assert.Contains(t, d.NotFound, evidence.Withdrawn)
	assert.WithinDuration(t, time.Now(), d.NextTry, time.Minute)

	findAll(t, a, id, smallKey, 100)
	assert.Empty(t, best(t, a, id)["1/2"])
	d = explained(t, a, poe)
	assert.Contains(t, find(d.Candidates, namesakes).Rule, evidence.Withdrawn)
	assert.Zero(t, d.NextTry, "it was looked for again, once")
}

// TestAHomepageThatLedToPapers is confirmed where the name alone spoke for it: by papers of
// its author alone, found in its scope or linked from there. It is never taken back then, and
// the next look at its author knows it.
func TestAHomepageThatLedToPapers(t *testing.T) {
	t.Parallel()
	a, id := byNameAlone(t)
	ctx := t.Context()
	homepage := func() evidence.Candidate {
		require.NoError(t, harvest.Homepages{DB: a.DB}.Confirm(ctx, id))
		d := explained(t, a, poe)
		require.Len(t, d.Homepages, 1)
		return d.Homepages[0]
	}
	matched := func(paper, sha, verdict string) {
		storetest.Exec(t, a.DB.Pool, `INSERT INTO matches (paper_key, sha256, verdict, form, score) VALUES ($1, $2, $3, 'paper', 1)`, paper, sha, verdict)
	}
	const own, others = "conf/exa/RoeP03", "conf/exa/Chen03"
	took(t, a, namesakes+"chens.pdf", namesakes, "accepted")
	matched(others, namesakes+"chens.pdf", "exact")
	assert.Zero(t, homepage().Confirmed, "another's paper")
	took(t, a, "http://people.example.org/~roe/p.pdf", "http://people.example.org/~roe/", "accepted")
	matched(own, "http://people.example.org/~roe/p.pdf", "exact")
	assert.Zero(t, homepage().Confirmed, "elsewhere")
	took(t, a, namesakes+"like.pdf", namesakes, "accepted")
	matched(own, namesakes+"like.pdf", "ambiguous")
	assert.Zero(t, homepage().Confirmed, "perhaps theirs")
	took(t, a, "http://lab.example.net/p.pdf", namesakes+"pubs.html", "accepted")
	matched(own, "http://lab.example.net/p.pdf", "strong")
	for range 2 { // the second time as after a crash
		c := homepage()
		assert.Equal(t, 1, c.Confirmed)
		assert.Equal(t, 1, strings.Count(c.Rule, "confirmed"), c.Rule)
	}
	require.NoError(t, harvest.Homepages{DB: a.DB}.Withdraw(ctx, []evidence.Barren{{Author: "1/2", URL: namesakes, Brought: "nothing"}}))
	require.Equal(t, namesakes, best(t, a, id)["1/2"])

	storetest.Exec(t, a.DB.Pool, `DELETE FROM matches`) // another paper is wanted
	first(t, a, id, time.Now().Add(time.Hour))
	for range 2 { // and so on
		assert.Equal(t, "listed:crawl", homepage().Source)
	}
}

// TestWithdrawingLosesNobodysWord: what another harvest or a person comes to say of an
// author, while a homepage is taken back, stays.
func TestWithdrawingLosesNobodysWord(t *testing.T) {
	t.Parallel()
	a, id := byNameAlone(t)
	ctx := t.Context()
	r := reported(t, a, id)
	const real = "http://poe.example.net/"
	tx, err := a.DB.Pool.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	_, err = tx.Exec(ctx, `UPDATE homepage_decisions SET decision=jsonb_insert(decision, '{homepages,0}', jsonb_build_object('url', $1::text, 'source', 'user', 'kept', true)) WHERE author_id='1/2'`, real)
	require.NoError(t, err)
	_, err = tx.Exec(ctx, `INSERT INTO homepages (author_id, url, host, rank, source) VALUES ('1/2', $1, 'poe.example.net', 1, 'user')`, real)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- harvest.Homepages{DB: a.DB}.Withdraw(ctx, r.Barren) }()
	storetest.AwaitLock(t, a.DB.Pool)
	require.NoError(t, tx.Commit(ctx))
	require.NoError(t, <-done)
	assert.Equal(t, real, best(t, a, id)["1/2"])
	assert.Len(t, explained(t, a, poe).Homepages, 1, "and the other is taken back")
}

func find(all []evidence.Candidate, url string) *evidence.Candidate {
	for i := range all {
		if all[i].URL == url {
			return &all[i]
		}
	}
	return &evidence.Candidate{}
}
