package tables

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/harvest/stats"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

// shop is a record and a repository of a test's own.
type shop struct {
	*Jobs
	t    *testing.T
	docs map[string]string // SHA-256 by name

	slices int // in which jobs were done
}

func newShop(t *testing.T) *shop {
	db := storetest.Open(t, 4)
	repo, err := repository.Open(t.Context(), filepath.Join(t.TempDir(), "blobs"))
	require.NoError(t, err)
	repo.BelongTo(db)
	t.Cleanup(func() { _ = repo.Close() })
	return &shop{New(Parts{DB: db, Repo: repo, Batch: 2}), t, map[string]string{}, 0}
}

func (s *shop) exec(sql string, args ...any) {
	s.t.Helper()
	storetest.Exec(s.t, s.DB.Pool, sql, args...)
}

// document keeps a document of a name, accepted, and found at URLs.
func (s *shop) document(name string, urls ...string) string {
	s.t.Helper()
	body := []byte("document " + name)
	d, err := s.Repo.Put(s.t.Context(), body)
	require.NoError(s.t, err)
	s.docs[name] = d.SHA256
	for _, u := range urls {
		host := weburl.Host(u)
		site, err := store.EnsureSite(s.t.Context(), s.DB.Pool, host)
		require.NoError(s.t, err)
		h := frontier.HashOf(u)
		require.NoError(s.t, s.DB.SaveFetched(s.t.Context(), store.Document{SHA256: d.SHA256, SHA1: d.SHA1, MD5: d.MD5, Bytes: int64(len(body)), Kind: "pdf"},
			store.Location{Hash: h[:], SiteID: site, URL: u, Parent: "http://" + host + "/", Found: time.Now()}, nil))
		s.exec(`INSERT INTO urls (site_id, hash, url, state, was, etag) VALUES ($1,$2,$3,2,2,'"1"')`, site, h[:], u)
	}
	s.exec(`UPDATE documents SET state='accepted' WHERE sha256=$1`, d.SHA256)
	return d.SHA256
}

// collection is one with a document for each case of a cleaning.
func (s *shop) collection() {
	s.document("alone", "http://bad.example/alone.pdf")
	s.document("twice", "http://bad.example/t1.pdf", "http://bad.example/t2.pdf")
	s.document("elsewhere", "http://bad.example/e.pdf", "http://good.example/e.pdf")
	paper := s.document("paper", "http://bad.example/p.pdf")
	s.exec(`UPDATE documents SET state='new' WHERE sha256=$1`, s.document("waits", "http://bad.example/w.pdf"))
	s.document("good", "http://good.example/g.pdf")
	gone := s.document("not ingested", "http://good.example/n.pdf")
	s.exec(`UPDATE documents SET same_as=$1 WHERE sha256=$2`, gone, s.document("its copy", "http://good.example/c.pdf"))
	s.exec(`UPDATE documents SET same_as=$1 WHERE sha256=$2`, gone, s.document("its other copy", "http://good.example/d.pdf"))
	s.exec(`UPDATE documents SET ingestion='failed' WHERE sha256=$1`, gone)
	s.exec(`INSERT INTO papers (key, venue, year, title) VALUES ('conf/x/1', 'conf/x', 2003, 'A Paper')`)
	s.exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('conf/x/1', $1, 'strong', 0.9)`, paper)
	require.NoError(s.t, s.DB.Block(s.t.Context(), []store.Blocked{{Host: "bad.example"}}))
}

// job does a job from its beginning, and ends it.
func (s *shop) job(kind string, o Options) (int64, Counters) {
	s.t.Helper()
	id, err := s.DB.AddJob(s.t.Context(), kind, o)
	require.NoError(s.t, err)
	p := Progress{More: true}
	for ; p.More; s.slices++ {
		p, err = s.Do(s.t.Context(), Run{kind, id, 1}, func(Progress) {})
		require.NoError(s.t, err)
	}
	return id, p.Counters
}

// outcomes are what a job noted, by URL.
func (s *shop) outcomes(job int64) map[string]string {
	all, err := s.DB.ImportRecords(s.t.Context(), job, 0, false, 1000)
	require.NoError(s.t, err)
	out := map[string]string{}
	for _, r := range all {
		out[r.URL] = r.Outcome + " " + r.Kind + ": " + r.Detail
	}
	return out
}

var cleaned = Counters{Looked: 7, Documents: 3, Places: 2, Kept: 2, Bytes: 49, Why: map[string]int64{"blacklisted host": 4, "failed ingestion": 1}}

// TestAJobIsDoneInSlices: between them another job has its turn, and all of them together
// come to what one does.
func TestAJobIsDoneInSlices(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.collection()
	s.Slice = 1
	_, would := s.job(store.JobCleanDocuments, Options{Only: Any})
	require.Equal(t, cleaned, would)
	require.Greater(t, s.slices, 3, "of two documents each")
	s.slices = 0
	s.job(store.JobWhitelist, Options{})
	require.Equal(t, 1, s.slices, "one step is all of it")
}

// cited counts each paper as cited once, and notes of which it was asked.
type cited struct{ asked []string }

func (*cited) Name() string { return "test" }

func (c *cited) Cited(_ context.Context, dois []string) (map[string]int64, error) {
	all := map[string]int64{}
	for _, doi := range dois {
		all[doi] = 1
	}
	c.asked = append(c.asked, dois...)
	return all, nil
}

// TestCitationsAreAskedForInSlices: the next goes on where the one before ended.
func TestCitationsAreAskedForInSlices(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var dois []string
	for i := range 5 {
		sha := s.document(fmt.Sprint("d", i), fmt.Sprintf("http://good.example/%d.pdf", i))
		dois = append(dois, fmt.Sprint("10.1/", i))
		s.exec(`INSERT INTO papers (key, venue, year, title, doi) VALUES ($1, 'conf/x', 2000, $1, $1)`, dois[i])
		s.exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ($1, $2, 'exact', 1)`, dois[i], sha)
	}
	source := &cited{}
	s.Citations, s.Slice = source, 1
	o := Defaults(store.JobWhitelist)
	o.Source = "semanticscholar"
	_, n := s.job(store.JobWhitelist, o)
	require.Equal(t, dois, source.asked, "each once")
	require.Equal(t, 4, s.slices, "of two papers each, and the ranking")
	require.Equal(t, int64(5), n.Whitelist.Citations)
}

func TestCleanDocuments(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.collection()
	id, would := s.job(store.JobCleanDocuments, Options{Only: Any})
	require.Equal(t, cleaned, would)
	said := s.outcomes(id)
	require.Equal(t, "would-go document: blacklisted host bad.example", said["http://bad.example/alone.pdf"])
	require.Equal(t, "would-go place: blacklisted host bad.example", said["http://bad.example/e.pdf"])
	require.Equal(t, "kept document: blacklisted host bad.example; compared with conf/x/1: strong", said["http://bad.example/p.pdf"])
	require.Equal(t, "kept document: blacklisted host bad.example; it waits to be examined", said["http://bad.example/w.pdf"])
	require.Equal(t, "would-go document: failed ingestion", said["http://good.example/n.pdf"])
	all, err := s.DB.FindDocuments(t.Context(), store.DocumentQuery{})
	require.NoError(t, err)
	require.Len(t, all, 9, "a dry run changes nothing")

	_, err = stats.MeasureAll(t.Context(), s.DB, stats.Thresholds{}, func(int) {})
	require.NoError(t, err)
	_, did := s.job(store.JobCleanDocuments, Options{Only: Any, InPlace: true})
	require.Equal(t, cleaned, did, "what went is what would go")
	_, err = stats.MeasureStale(t.Context(), s.DB, stats.Thresholds{})
	require.NoError(t, err)
	rates, err := s.DB.SiteRatesList(t.Context(), "", 0)
	require.NoError(t, err)
	require.Equal(t, []int{4, 2}, []int{rates[0].Documents, rates[1].Documents}, "what went counts no more")
	s.sound("alone", "twice", "not ingested")
	sites, err := s.DB.Sites(t.Context(), store.SiteQuery{Limit: 9})
	require.NoError(t, err)
	require.Equal(t, []int{2, 4}, []int{sites[0].Documents, sites[1].Documents}, "the site lists what is there")
	_, places, err := s.DB.Document(t.Context(), s.docs["elsewhere"])
	require.NoError(t, err)
	require.Len(t, places, 1)
	require.Equal(t, "http://good.example/e.pdf", places[0].URL)
	etag := storetest.Get[string](t, s.DB.Pool, `SELECT etag FROM urls WHERE url='http://good.example/n.pdf'`)
	require.Empty(t, etag, "the next crawl would be told that it did not change, and is not there")
	copies, err := s.DB.Duplicates(t.Context(), s.docs["its copy"])
	require.NoError(t, err)
	require.ElementsMatch(t, []string{s.docs["its copy"], s.docs["its other copy"]}, copies)
	_, again := s.job(store.JobCleanDocuments, Options{Only: Any, InPlace: true})
	require.Equal(t, Counters{Looked: 2, Kept: 2}, again)
}

// TestCleanDocumentsMeetBothConditions checks that a document goes for its host and its
// failed ingestion together (C §4.2), and that an ingested one goes only where it is named.
func TestCleanDocumentsMeetBothConditions(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.collection()
	for only, looked := range map[string]int64{OnlyFailed: 1, OnlyBlacklisted: 6} {
		_, n := s.job(store.JobCleanDocuments, Options{Only: only})
		require.Equal(t, looked, n.Looked, only)
	}
	s.exec(`UPDATE documents SET ingestion='failed' WHERE sha256 = ANY($1)`, []string{s.docs["twice"], s.docs["elsewhere"]})
	s.exec(`UPDATE documents SET ingestion='ingested' WHERE sha256=$1`, s.docs["alone"])
	id, n := s.job(store.JobCleanDocuments, Options{})
	require.Equal(t, []int64{3, 1, 2}, []int64{n.Looked, n.Documents, n.Places})
	require.NotContains(t, s.outcomes(id), "http://good.example/n.pdf")
	for _, only := range []string{Any, OnlyBlacklisted} {
		id, _ = s.job(store.JobCleanDocuments, Options{Only: only})
		require.Regexp(t, "^kept document", s.outcomes(id)["http://bad.example/alone.pdf"])
		id, _ = s.job(store.JobCleanDocuments, Options{Only: only, Ingested: true})
		require.Regexp(t, "^would-go document", s.outcomes(id)["http://bad.example/alone.pdf"])
	}
	_, did := s.job(store.JobCleanDocuments, Options{InPlace: true})
	require.Equal(t, n, did)
	s.sound("twice")
}

// TestCleanDocumentsThatArePapers: a web master's complaint is met whatever a document is of, and its paper is missing
// again.
func TestCleanDocumentsThatArePapers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.collection()
	s.exec(`INSERT INTO matches (paper_key, sha256, verdict, settled, score) VALUES ('conf/x/1', $1, 'exact', 'no', 1)`, s.docs["alone"])
	id, _ := s.job(store.JobCleanDocuments, Options{Only: OnlyBlacklisted, InPlace: true, Matched: true})
	require.Equal(t, "gone document: blacklisted host bad.example", s.outcomes(id)["http://bad.example/p.pdf"])
	require.Regexp(t, "^kept document", s.outcomes(id)["http://bad.example/w.pdf"])
	s.sound("alone", "twice", "paper")
	require.Zero(t, storetest.Get[int](t, s.DB.Pool, `SELECT count(*)::int FROM matches`))
}

// sound holds the record to its rule: a document is on record exactly where its file
// is there, and those that went are neither.
func (s *shop) sound(gone ...string) {
	s.t.Helper()
	for name, sha := range s.docs {
		_, _, err := s.DB.Document(s.t.Context(), sha)
		file, ferr := s.Repo.Exists(s.t.Context(), sha)
		require.NoError(s.t, ferr)
		require.Equal(s.t, !slices.Contains(gone, name), err == nil, "%s on record", name)
		require.Equal(s.t, !slices.Contains(gone, name), file, "file of %s", name)
	}
}

// TestKilledCleaningGoesOn kills a cleaning wherever it tells of something; the next
// attempt goes on, and it comes to the same as one that was let be.
func TestKilledCleaningGoesOn(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.collection()
	id, err := s.DB.AddJob(t.Context(), store.JobCleanDocuments, Options{Only: Any, InPlace: true})
	require.NoError(t, err)
	attempts := 0
	for ; ; attempts++ {
		ctx, kill := context.WithCancel(t.Context())
		lines := 0
		p, err := s.Do(ctx, Run{store.JobCleanDocuments, id, 1}, func(Progress) {
			if lines++; lines == 2 {
				kill()
			}
		})
		kill()
		if err == nil {
			require.Equal(t, cleaned, p.Counters)
			break
		}
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Greater(t, attempts, 2, "it was hardly killed")
	s.sound("alone", "twice", "not ingested")
	sites, err := s.DB.Sites(t.Context(), store.SiteQuery{Limit: 9})
	require.NoError(t, err)
	require.Equal(t, []int{2, 4}, []int{sites[0].Documents, sites[1].Documents}, "the site lists what is there")
	require.Len(t, s.outcomes(id), 7)
}

// TestBroughtBackWhileItGoes: a document that is fetched again after it was marked
// stays, and one that is fetched while it goes is stored anew.
func TestBroughtBackWhileItGoes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.collection()
	id, err := s.DB.AddJob(t.Context(), store.JobCleanDocuments, Options{InPlace: true, Only: OnlyFailed})
	require.NoError(t, err)
	sha := s.docs["not ingested"]
	h := frontier.HashOf("http://good.example/n.pdf")
	fetchedAgain := func() (put bool) {
		require.NoError(t, s.DB.SaveFetched(t.Context(), store.Document{SHA256: sha, Kind: "pdf", Bytes: 1}, store.Location{Hash: h[:], SiteID: 2, URL: "http://good.example/n.pdf", Found: time.Now()},
			func() error {
				put = true
				_, err := s.Repo.Put(t.Context(), []byte("document not ingested"))
				return err
			}))
		return put
	}
	back := false
	_, err = New(Parts{DB: s.DB, Repo: s.Repo}).Do(t.Context(), Run{store.JobCleanDocuments, id, 1}, func(p Progress) {
		if p.Counters.Documents == 1 && !back {
			back = true
			require.True(t, fetchedAgain(), "its file was about to go")
		}
	})
	require.NoError(t, err)
	require.True(t, back)
	s.sound()

	s.exec(`UPDATE documents SET ingestion='failed', state='rejected' WHERE sha256=$1`, sha)
	s.job(store.JobCleanDocuments, Options{InPlace: true, Only: OnlyFailed})
	s.sound("not ingested")
	require.True(t, fetchedAgain(), "who kept the file a moment before it went stores it anew")
	s.sound()
}

func TestCleanParents(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.collection()
	page := func(host, path string, state int, links ...string) {
		site, err := store.EnsureSite(t.Context(), s.DB.Pool, host)
		require.NoError(t, err)
		url := "http://" + host + path
		h := frontier.HashOf(url)
		s.exec(`INSERT INTO urls (site_id, hash, url, state, outcome) VALUES ($1,$2,$3,$4,'not-found')`, site, h[:], url, state)
		s.exec(`INSERT INTO parents (page, url, host, first_crawl, last_crawl) VALUES ($1,$2,$3,'2026-01-02','2026-03-04') ON CONFLICT (page) DO UPDATE SET first_crawl=EXCLUDED.first_crawl, last_crawl=EXCLUDED.last_crawl`, h[:], url, host)
		for _, l := range links {
			to := frontier.HashOf(l)
			s.exec(`INSERT INTO links (site_id, page, target, first_seen, last_seen) VALUES ($1,$2,$3,'2026-01-02','2026-03-04')`, site, h[:], to[:])
		}
	}
	page("bad.example", "/", 1, "http://bad.example/p.pdf")
	page("good.example", "/", 1, "http://good.example/g.pdf", "http://good.example/none.pdf")
	page("good.example", "/none.html", 1, "http://good.example/none.pdf")
	page("good.example", "/gone.html", 4, "http://good.example/g.pdf")
	page("busy.example", "/", 1, "http://busy.example/soon.pdf")
	s.exec(`UPDATE sites SET state='crawling' WHERE host='busy.example'`)
	require.NoError(t, s.DB.ImportWhitelist(t.Context(), []store.ListedURL{{URL: "http://good.example/", Position: 1}, {URL: "http://good.example/gone.html", Position: 2},
		{URL: "http://bad.example/other.html", Position: 3}, {URL: "http://nobody.example/", Position: 4}}))

	want := Counters{Looked: 7, Parents: 5, Why: map[string]int64{"blacklisted host": 2, "dead link": 1, "no document": 2}}
	id, would := s.job(store.JobCleanParents, Options{})
	require.Equal(t, want, would)
	require.Equal(t, map[string]string{
		"http://bad.example/":           "would-go parent: blacklisted host bad.example",
		"http://good.example/none.html": "would-go parent: no document",
		"http://good.example/gone.html": "would-go parent: dead link: not-found",
		"http://bad.example/other.html": "would-go parent: blacklisted host bad.example",
		"http://nobody.example/":        "would-go parent: no document",
	}, s.outcomes(id))
	listed, err := s.DB.Whitelist(t.Context(), -1, "", 0)
	require.NoError(t, err)
	require.Len(t, listed, 4)
	s.texts("bad.example", "good.example")
	had, kept := s.withTexts(), map[string][]string{}
	for table, hosts := range had {
		require.Equal(t, []string{"bad.example", "good.example"}, hosts, table)
		kept[table] = hosts[1:]
	}
	s.Slice, s.slices = time.Nanosecond, 0
	_, only := s.job(store.JobCleanParents, Options{InPlace: true, Only: OnlyBlacklisted})
	require.Equal(t, 20, s.slices, "a table is a slice at least")
	require.Equal(t, kept, s.withTexts())
	require.Equal(t, Counters{Looked: 7, Parents: 2, Texts: 17, Why: map[string]int64{"blacklisted host": 2}}, only)
	of, err := s.DB.Decisions(t.Context(), []string{"a"}, time.Time{})
	require.NoError(t, err)
	require.Len(t, of[0].Candidates, 2, "their addresses stay")
	_, did := s.job(store.JobCleanParents, Options{InPlace: true})
	require.Equal(t, int64(3), did.Parents)
	require.Zero(t, did.Texts)
	listed, err = s.DB.Whitelist(t.Context(), -1, "", 0)
	require.NoError(t, err)
	require.Len(t, listed, 1)
	left, err := s.DB.Parents(t.Context(), "", store.ParentAt{}, 100)
	require.NoError(t, err)
	require.Len(t, left, 2)
	for i, want := range []string{"http://busy.example/", "http://good.example/"} {
		require.Equal(t, want, left[i].URL)
		require.Empty(t, left[i].Why)
	}
	_, again := s.job(store.JobCleanParents, Options{InPlace: true})
	require.Zero(t, again.Parents)
}

// texts puts text of a page of each host in every table that keeps any, and for the first
// host a link to the second and an answer of the second that redirected to it.
func (s *shop) texts(hosts ...string) {
	s.t.Helper()
	s.exec(`INSERT INTO collections (id, name, options, topics) OVERRIDING SYSTEM VALUE VALUES (1, 'c', '{}', '[]')`)
	s.exec(`UPDATE urls SET etag=''`)
	s.exec(`INSERT INTO authors (id, name) VALUES ('a', 'A')`)
	put := func(path, host, from, final string) {
		url, says := "http://"+host+path, "said by "+from
		h := frontier.HashOf(url)
		s.exec(`INSERT INTO page_cache (hash, host, url, final_url, outcome, status, header) VALUES ($1,$2,$3,$4,'success',200,jsonb_build_array($5::text))`, h[:], host, url, final, says)
		s.exec(`INSERT INTO urls (site_id, hash, url, parent, anchor, context, heading, tag_path) SELECT id, $1, $2, $3, $4, $4, $4, $4 FROM sites WHERE host=$5`, h[:], url, "http://"+from+"/", says, host)
		s.exec(`INSERT INTO locations (hash, sha256, site_id, url, parent, anchor, context, heading, meta_title) SELECT $1, $2, id, $3, $4, $5, $5, $5, $5 FROM sites WHERE host=$6`,
			h[:], s.docs["good"], url, "http://"+from+"/", says, host)
		s.exec(`INSERT INTO collection_urls (collection, hash, host, url, parent, anchor) VALUES (1,$1,$2,$3,$4,$5)`, h[:], host, url, "http://"+from+"/", says)
	}
	var found []map[string]string
	for i, host := range hosts {
		url, says := "http://"+host+"/text.html", "said by "+host
		h := frontier.HashOf(url)
		put("/text.html", host, host, url)
		found = append(found, map[string]string{"url": url, "title": says, "snippet": says})
		s.exec(`INSERT INTO page_index (hash, url, title, snippet, words) VALUES ($1,$2,$3,$3,'word')`, h[:], url, says)
		s.exec(`INSERT INTO kept_links (site_id, page, unread) SELECT id, $1, $2 FROM sites WHERE host=$3`, h[:], says, host)
		s.exec(`UPDATE urls SET etag=$1, last_modified=$1, content='hash' WHERE hash=$2`, says, h[:])
		s.exec(`UPDATE sites SET learnt=jsonb_build_array($1::text) WHERE host=$2`, says, host)
		s.exec(`UPDATE collection_urls SET title=$1, terms=ARRAY[$1] WHERE hash=$2`, says, h[:])
		s.exec(`INSERT INTO collection_words (collection, hash, words) VALUES (1,$1,$2)`, h[:], says)
		s.exec(`INSERT INTO collection_links (collection, hash, targets, anchors) VALUES (1,$1,'{}',ARRAY[$2])`, h[:], says)
		s.exec(`INSERT INTO collection_examples (collection, topic, hash, url, about, judged, words) VALUES (1,'t',$1,$2,true,true,$3)`, h[:], url, says)
		s.exec(`INSERT INTO collection_results (collection, topic, place, url, outcome, counts) VALUES (1,'t',$1,$2,'ok',jsonb_build_object($3::text, 1))`, i, url, says)
	}
	put("/text-linked.html", hosts[1], hosts[0], "http://"+hosts[0]+"/moved.html")
	s.exec(`INSERT INTO searches (provider, query, wanted, results, asked_at) VALUES ('local','a',1,$1,now())`, found)
	s.exec(`INSERT INTO homepage_decisions (author_id, decision) VALUES ('a',$1)`,
		map[string]any{"author": map[string]string{"id": "a"}, "homepages": nil, "candidates": found, "searched": found, "co_authors": []string{"b"}})
}

// withTexts lists the hosts of which each table keeps text.
func (s *shop) withTexts() map[string][]string {
	s.t.Helper()
	tables, err := store.Column[string](s.t.Context(), s.DB, `SELECT relname FROM pg_class WHERE relnamespace=current_schema::regnamespace AND relkind='r'`)
	require.NoError(s.t, err)
	all := map[string][]string{}
	for _, table := range tables {
		hosts, err := store.Column[string](s.t.Context(), s.DB, `SELECT DISTINCT m[1] FROM `+table+` r, regexp_matches(r::text, 'said by ([a-z.]+)', 'g') m ORDER BY 1`)
		require.NoError(s.t, err)
		if len(hosts) > 0 {
			all[table] = hosts
		}
	}
	return all
}

// panicsFor grants every turn at once, and panics over those of one host.
type panicsFor string

func (p panicsFor) Turn(_ context.Context, host string, _ time.Duration) (func(fetch.Visit), error) {
	if host == string(p) {
		panic("the end")
	}
	return func(fetch.Visit) {}, nil
}

// TestCleanParentsAsks checks that pages which no crawl asked for, as those of imports, are
// asked for where a cleaning is to, each once a day: what is gone goes, also from the
// whitelist. Robots.txt holds.
func TestCleanParentsAsks(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var mu sync.Mutex
	asked := map[string]int{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path]++
		switch r.URL.Path {
		case "/robots.txt":
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /private/")
		case "/gone.html", "/private/gone.html":
			http.NotFound(w, r)
		case "/busy.html":
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer web.Close()
	var err error
	s.Fetch, err = fetch.New(fetch.Config{AllowLoopback: true, Proxy: "none", Gate: panicsFor("127.0.0.2")})
	require.NoError(t, err)
	defer s.Fetch.Close()
	pages := []string{strings.Replace(web.URL, "127.0.0.1", "127.0.0.2", 1) + "/deep.html"} // over which the program panics
	for _, path := range []string{"/there.html", "/gone.html", "/busy.html", "/private/gone.html", "/crawled.html"} {
		pages = append(pages, web.URL+path)
	}
	for i, page := range pages {
		sha := s.document(fmt.Sprint(i), page+".pdf")
		s.exec(`UPDATE locations SET parent=$2 WHERE sha256=$1`, sha, page)
		s.exec(`DELETE FROM parents WHERE url LIKE '%/'`)
		h := frontier.HashOf(page)
		s.exec(`INSERT INTO parents (page, url, host, first_crawl, last_crawl) VALUES ($1,$2,$3,'2005-01-02','2005-01-02')`, h[:], page, weburl.Host(page))
		if strings.HasSuffix(page, "/crawled.html") {
			s.exec(`INSERT INTO urls (site_id, hash, url, state) SELECT id, $1, $2, 1 FROM sites WHERE host=$3`, h[:], page, weburl.Host(page))
		}
	}
	_, n := s.job(store.JobCleanParents, Options{})
	require.Zero(t, n.Parents)
	require.Empty(t, asked, "nobody is asked unless the options say so")
	s.slices, s.Slice = 0, 1
	id, n := s.job(store.JobCleanParents, Options{Ask: true})
	require.Greater(t, s.slices, 4, "each asks for a page of a host and makes room for others")
	require.Equal(t, Counters{Looked: 6, Parents: 1, Asked: 5, Why: map[string]int64{"dead link": 1}}, n)
	require.Equal(t, map[string]string{web.URL + "/gone.html": "would-go parent: dead link: not-found"}, s.outcomes(id))
	want := map[string]int{"/robots.txt": 1, "/there.html": 1, "/gone.html": 1, "/busy.html": 1}
	require.Equal(t, want, asked)
	left, err := s.DB.ParentPages(t.Context(), false)
	require.NoError(t, err)
	require.Len(t, left, 5)

	_, n = s.job(store.JobCleanParents, Options{Ask: true, InPlace: true})
	require.Equal(t, []int64{6, 1, 0}, []int64{n.Looked, n.Parents, n.Asked})
	require.Equal(t, want, asked, "what was asked today")
}

func TestRetrieveAndWhitelist(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for i := range 9 {
		s.document(fmt.Sprint("d", i), fmt.Sprintf("http://good.example/%d.pdf", i))
	}
	s.document("page", "http://good.example/p.html")
	s.exec(`UPDATE documents SET kind='html' WHERE sha256=$1`, s.docs["page"])
	o := Defaults(store.JobRetrieve)
	for name, value := range map[string]string{"kind": "pdf", "sample": "5", "seed": "7", "from": time.Now().AddDate(0, 0, -1).Format(time.DateOnly)} {
		require.NoError(t, o.Set(store.JobRetrieve, name, value))
	}
	o.To = t.TempDir()
	first, n := s.job(store.JobRetrieve, o)
	require.Equal(t, int64(5), n.Documents)
	to, err := repository.Open(t.Context(), o.To)
	require.NoError(t, err)
	defer to.Close()
	copied := 0
	require.NoError(t, to.Walk(t.Context(), func(repository.Entry) error { copied++; return nil }))
	require.Equal(t, 5, copied)
	second, _ := s.job(store.JobRetrieve, o)
	require.Equal(t, s.outcomes(first), s.outcomes(second), "the same seed draws the same sample")

	all := Defaults(store.JobRetrieve)
	all.Documents.Limit = 8
	_, n = s.job(store.JobRetrieve, all)
	require.Equal(t, int64(8), n.Documents)
	s.exec(`UPDATE documents SET state='rejected' WHERE sha256=$1`, s.docs["d0"])
	_, n = s.job(store.JobRetrieve, Defaults(store.JobRetrieve))
	require.Equal(t, int64(9), n.Documents, "accepted ones, unless another state is named")
	require.NoError(t, all.Set(store.JobRetrieve, "state", "rejected"))
	_, n = s.job(store.JobRetrieve, all)
	require.Equal(t, int64(1), n.Documents)
	s.exec(`UPDATE documents SET state='accepted' WHERE sha256=$1`, s.docs["d0"])

	_, w := s.job(store.JobWhitelist, Defaults(store.JobWhitelist))
	require.NotNil(t, w.Whitelist)
	require.Equal(t, 1, w.Whitelist.URLs)
}

// TestRetrieveWithoutAFile: a document whose file is not there is listed as failed, and
// those behind it are copied.
func TestRetrieveWithoutAFile(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for i := range 5 {
		s.document(fmt.Sprint("d", i), fmt.Sprintf("http://good.example/%d.pdf", i))
	}
	require.NoError(t, s.Repo.Delete(t.Context(), s.docs["d2"]))
	o := Defaults(store.JobRetrieve)
	o.To = t.TempDir()
	id, n := s.job(store.JobRetrieve, o)
	require.Equal(t, []int64{4, 1}, []int64{n.Documents, n.Failed})
	require.Equal(t, "failed pdf: its file is not in the repository", s.outcomes(id)["http://good.example/2.pdf"])
}

func TestOptions(t *testing.T) {
	t.Parallel()
	o := Defaults(store.JobRetrieve)
	for name, value := range map[string]string{"state": "lost", "sample": "-1", "from": "31.1.2026", "year": "last", "only": "failed", "domains": "1"} {
		require.ErrorIs(t, o.Set(store.JobRetrieve, name, value), ErrInput, name)
	}
	require.ErrorIs(t, o.Set("import", "kind", "pdf"), ErrInput)
	o = Defaults(store.JobRetrieve)
	require.NoError(t, o.Set(store.JobRetrieve, "to", "2026-01-31"))
	require.Equal(t, "2026-01-31", o.Get("to"))
	require.Equal(t, "to=2026-01-31 seed=1", o.Describe(store.JobRetrieve))
}
