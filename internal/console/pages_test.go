package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-pdf/fpdf"
	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// hostile are words of a stranger that a careless page would obey.
const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>{{.}}` + "/a/word/that/breaks/nowhere/" + unbroken

const unbroken = "0123456789012345678901234567890123456789012345678901234567890123456789"

const (
	sampleHarvest = "conf/webdb/1998-1999"
	sampleSHA     = "0011223344556677889900112233445566778899001122334455667788990011"
	otherSHA      = "ff11223344556677889900112233445566778899001122334455667788990011"
)

// sample lays down a harvest with a paper held, one found, one that a person is to
// say of, and one that was not found, and a site that asked for a rest.
func (d *desk) sample() {
	d.t.Helper()
	ctx := d.t.Context()
	_, err := d.App.Repo.Put(ctx, []byte("a store of the record"))
	require.NoError(d.t, err)
	h := store.Harvest{ID: sampleHarvest, Venue: "conf/webdb", Years: gleaner.Years{From: 1998, To: 1999}, Options: []byte("{}"), Stage: "crawl"}
	require.NoError(d.t, d.SaveHarvest(ctx, h))
	ada := gleaner.Author{PID: "1/1", Name: "Ada Lovelace"}
	var all []gleaner.Paper
	for i, title := range []string{"Held Already by the Library", "Analytical Engines for Everyone and Their Machines", "Difference Engines in the Large", "Missing Since the Last Volume of the Proceedings of This Workshop " + hostile} {
		all = append(all, gleaner.Paper{Key: fmt.Sprintf("conf/webdb/P%d", i), Venue: "conf/webdb", Year: 1998 + i%2, Title: title, Authors: []gleaner.Author{ada}})
	}
	require.NoError(d.t, d.SavePapers(ctx, all, nil))
	require.NoError(d.t, d.SetHarvestPapers(ctx, h.ID, all, map[string]string{all[0].Key: "same DOI"}))
	id, err := store.EnsureSite(ctx, d.Pool, "www.ada.example")
	require.NoError(d.t, err)
	d.exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ($1,$2,'homepage')`, h.ID, id)
	d.exec(`UPDATE sites SET state='crawling', crawl=1, pace='1.5 s', pace_by='robots.txt', asked_until=now() + interval '1 hour', crawl_started=now() WHERE id=$1`, id)
	d.exec(`INSERT INTO homepages (author_id, url, host, rank, source) VALUES ('1/1', 'http://www.ada.example/', 'www.ada.example', 1, 'dblp')`)
	d.exec(`INSERT INTO homepage_decisions (author_id, not_found, decision) VALUES ('1/1', 'no candidate showed enough evidence', $1)`, evidence.Decision{Author: ada,
		Candidates: []evidence.Candidate{{URL: "http://b.example/", Title: hostile, Source: evidence.SourceVenue,
			Rule: "too little evidence", Fetched: true}}})
	for i, sha := range []string{sampleSHA, otherSHA} {
		e := frontier.Entry{Candidate: page.Candidate{Link: page.Link{URL: fmt.Sprintf("http://www.ada.example/p%d.pdf", i), Anchor: hostile, Source: page.SourceAnchor}, Parent: "http://www.ada.example/"}}
		_, err = frontier.Add(ctx, d.Pool, id, []frontier.Entry{e})
		require.NoError(d.t, err)
		require.NoError(d.t, frontier.Done(ctx, d.Pool, id, []frontier.Visit{{Entry: &e, State: frontier.Document, Outcome: gleaner.OK, Crawl: 1, At: time.Now().Add(-time.Hour)}}))
		hash := e.Hash()
		require.NoError(d.t, d.SaveFetched(ctx, store.Document{SHA256: sha, SHA1: sha, MD5: sha, Kind: "pdf", Bytes: 4711},
			store.Location{Hash: hash[:], SiteID: id, URL: e.Candidate.Link.URL, Parent: e.Parent, Anchor: hostile, Found: time.Now()}, nil))
		d.exec(`UPDATE documents SET state='accepted', class='paper', outcome='ok', first_pages=$2, meta_title=$3 WHERE sha256=$1`, sha, "It begins. "+hostile, hostile)
	}
	for i, verdict := range []string{"exact", "ambiguous"} {
		d.exec(`INSERT INTO matches (paper_key, sha256, verdict, score, reasons) VALUES ($1,$2,$3,0.9,'["title"]')`, all[1+i].Key, []string{sampleSHA, otherSHA}[i], verdict)
	}
	d.exec(`INSERT INTO urls (site_id, hash, url, state, outcome, tries, fetched_at) VALUES ($1, sha256('gone'), 'http://www.ada.example/gone', 4, 'timeout', 1, now())`, id)
	d.exec(`INSERT INTO whitelist (url, domain, position, documents) SELECT 'http://w' || n || '.example/', 'w' || n || '.example', n, 3 FROM generate_series(1, 120) n`)
	require.NoError(d.t, d.Block(ctx, []store.Blocked{{Host: "bad.example", Reason: hostile}}))
	_, err = store.EnsureSite(ctx, d.Pool, "bad.example")
	require.NoError(d.t, err)
	_, err = d.SaveHoldings(ctx, all[:1], hostile, false, nil)
	require.NoError(d.t, err)
	d.sampleJobs()
	d.exec(`INSERT INTO collections (name, options, topics, state, note, requests) VALUES ('conf/maths', '{}', '[]', 'ended', $1, 130)`, hostile)
	d.exec(`INSERT INTO collection_urls (collection, hash, host, url, title, kind, sha256, parent, depth, n, at, waiting, priority) SELECT 1, sha256(n::text::bytea), 't.example', 'http://t.example/' || n, $1, 'pdf', CASE WHEN n=1 THEN $2 ELSE '' END, 'http://t.example/', 1, n, now(), false, 1 FROM generate_series(1, 130) n`, hostile, sampleSHA)
	d.exec(`INSERT INTO collection_entries (collection, topic, hash, correlation) SELECT 1, CASE WHEN n < 121 THEN 'graphs' ELSE 'knots' END, sha256(n::text::bytea), 1 - (n / 2) / 100.0 FROM generate_series(1, 130) n`)
	d.exec(`INSERT INTO parents (page, url, host, first_crawl, last_crawl) SELECT sha256(n::text::bytea), 'http://p' || n || '.example/', 'p' || n || '.example', '2005-06-30', '2026-01-02' FROM generate_series(1, 120) n`)
}

// samplePages are all addresses of pages, with something to show.
func samplePages() []string {
	id := url.PathEscape(sampleHarvest)
	return []string{"/", "/harvests/" + id, "/reports/" + id, "/papers?harvest=" + id, "/papers?harvest=" + id + "&state=missing", "/papers?harvest=" + id + "&reason=ambiguous",
		"/papers/" + url.PathEscape("conf/webdb/P1"), "/sites", "/sites?harvest=" + id, "/sites/www.ada.example", "/sites/bad.example", "/documents", "/documents?state=accepted&site=www.ada.example",
		"/documents/" + sampleSHA, "/urls?url=" + url.QueryEscape("http://www.ada.example/p0.pdf"), "/review", "/jobs", "/jobs/1", "/jobs/2", "/jobs/2?differs=yes", "/collections", "/collections/conf%2Fmaths", "/collections/conf%2Fmaths?topic=knots", "/parents", "/parents?site=www.ada.example", "/whitelist", "/blacklist", "/users", "/password", "/statistics",
		"/homepages?harvest=" + id, "/people/1%2F1", holdingsPath, "/schedules", "/failures?harvest=" + id, "/failures?harvest=" + id + "&reason=timeout"}
}

// TestWordsOfStrangersAreText on every page.
func TestWordsOfStrangersAreText(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	said := 0
	for _, path := range samplePages() {
		body := d.page(path)
		require.NotContains(t, body, "<script>alert", path)
		require.NotContains(t, body, "<img src=x", path)
		require.NotContains(t, body, "ZgotmplZ", path)
		require.NotContains(t, body, "<no value>", path)
		said += strings.Count(body, "&lt;script&gt;")
	}
	require.Greater(t, said, 5)
	require.Empty(t, webAddress("javascript:alert(1)"))
	require.Empty(t, webAddress("file:///etc/passwd"))
}

// TestPagesSayWhy: what was held, found and missed, why, and where each line of the
// evidence leads.
func TestPagesSayWhy(t *testing.T) {
	t.Parallel()
	d := sampled(t, func(o *Options) { o.WorkflowURL = func(h string) string { return "http://127.0.0.1:8233/" + h } })
	id := url.PathEscape(sampleHarvest)
	d.explained(sampleHarvest)
	require.Regexp(t, `(?s)<b>4</b> published.*<b>1</b> held.*<b>3</b> wanted.*<b>1</b> found`, d.page("/"))
	require.Contains(t, d.page("/harvests/"+sampleHarvest), "http://127.0.0.1:8233/conf/webdb/1998-1999")
	require.True(t, strings.HasSuffix(store.DocumentTitle("", strings.Repeat("long title ", 9), ""), "title lon…"),
		"it is cut")

	got := answer[papersPage](d, "/papers?harvest="+id)
	states := each.Of(got.Papers, func(p store.HarvestPaper) string { return p.State })
	require.Equal(t, []string{"held", "found", "missing", "missing"}, states)
	require.Equal(t, "same DOI", got.Papers[0].HeldWhy)
	require.Equal(t, sampleSHA, got.Papers[1].SHA256)
	require.EqualValues(t, "ambiguous", got.Papers[2].Reason)
	require.EqualValues(t, "not yet crawled", got.Papers[3].Reason)
	got = papersPage{}
	d.read(&got, "/papers?harvest="+id+"&reason=ambiguous&year=1998")
	require.Len(t, got.Papers, 1)
	require.Regexp(t, `<li><a href="/urls\?url=http%3a%2f%2fwww.ada.example%2fp1.pdf">http://www.ada.example/p1.pdf</a>: ambiguous match`, d.page("/papers?harvest="+id+"&state=missing"))

	site := d.page("/sites/www.ada.example")
	require.Regexp(t, `(?s)\d{4}, \d\d:.* \(Retry-After\).*every 1.5s \(robots.txt\)`, site)
	require.Contains(t, d.page("/sites/bad.example"), "the host is on the blacklist")
	require.Contains(t, d.page("/documents/"+sampleSHA), `linked from <a href="http://www.ada.example/" rel="noopener noreferrer nofollow">`)
	require.Contains(t, d.page("/urls?url=http://www.ada.example/p0.pdf"), sampleSHA)
	require.Contains(t, d.page("/review"), "Difference Engines")

	require.Contains(t, d.page("/harvests/"+id), "Being crawled")
	require.NotContains(t, d.page("/harvests/"+id), "still to be recognised")
	d.exec(`UPDATE documents SET state='new', outcome='image-only' WHERE sha256=$1`, otherSHA)
	require.Contains(t, d.page("/harvests/"+id), "1 scanned document is still to be recognised")
	require.NoError(t, d.SetPaused(t.Context(), sampleHarvest, true))
	require.Contains(t, d.page("/harvests/"+id), "Crawled further once it goes on")
	d.exec(`INSERT INTO urls (site_id, hash, url) SELECT id, 'x', 'http://www.ada.example/x' FROM sites LIMIT 1`)
	require.NoError(t, d.SetStage(t.Context(), sampleHarvest, gleaner.StageCancelled, "in stage crawl"))
	ended := d.page("/harvests/" + id)
	require.Regexp(t, `cancelled</span> <span class="quiet">in stage crawl`, ended)
	require.Contains(t, ended, "pages 0, waiting 0, failed 1, not asked 1: ")
	require.Contains(t, ended, "<dt>Started")
	require.NotRegexp(t, `<dt>Last started|name="site"`, ended)
	require.Contains(t, ended, "One site alone is tried again only where the harvest runs or is complete")
	d.exec(`UPDATE harvests SET begun_at=started_at - interval '2 days'`)
	began, err := d.FindHarvest(t.Context(), sampleHarvest)
	require.NoError(t, err)
	require.NoError(t, d.SaveHarvest(t.Context(), began))
	require.Regexp(t, `(?s)<dt>Started.*<dt>Last started`, d.page("/harvests/"+id))

	const dead = "site:http://www.ada.example/gone"
	of := store.Harvest{ID: dead, Venue: dead, Options: []byte("{}"), Stage: "complete"}
	require.NoError(t, d.SaveHarvest(t.Context(), of))
	hash := frontier.HashOf("http://www.ada.example/gone")
	d.exec(`UPDATE urls SET hash=$1 WHERE url LIKE '%/gone'`, hash[:])
	require.Contains(t, d.page("/harvests/"+url.PathEscape(dead)), "The address itself answered no page: timeout")
	d.exec(`UPDATE sites SET state='refused', asked_until='-infinity' WHERE host='www.ada.example'`)
	require.Contains(t, d.page("/sites"), "never by itself")
	require.Contains(t, d.page("/urls?url=http://www.ada.example/p0.pdf"), "never by itself")
}

// TestListsGoOnWhereTheyEnded: every row is on one page, and on one alone.
func TestListsGoOnWhereTheyEnded(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	seen := map[string]bool{}
	for path := "/whitelist"; path != ""; {
		p := answer[whitelistPage](d, path)
		require.LessOrEqual(t, len(p.URLs), pageSize)
		for _, u := range p.URLs {
			require.False(t, seen[u.URL], u.URL)
			seen[u.URL] = true
		}
		path = follow("/whitelist", p.Next)
	}
	require.Len(t, seen, 120)
	require.Contains(t, d.page("/whitelist"), `rel="next" href="/whitelist?after=50`)
}

// TestWrongQuestionsAreSaidSo to people and to programs alike.
func TestWrongQuestionsAreSaidSo(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	for path, want := range map[string]int{"/nowhere": 404, "/harvests/conf%2Fnone": 404, "/harvests/webdb": 404, "/papers": 400, "/papers?harvest=conf/none": 404, "/papers/none": 404,
		"/sites/none.example": 404, "/sites?state=odd": 400, "/documents/00": 404, "/documents?after=x": 400, "/urls": 400, "/urls?url=http://never.example/": 404,
		"/whitelist?after=x": 400, "/documents/" + sampleSHA + "/page.png": 404, "/documents/..%2F..%2Fetc/page.png": 404} {
		body := d.gives(want, "GET", path, "", "Accept", "application/json")
		var f failure
		require.NoError(t, json.Unmarshal([]byte(body), &f), path)
		require.NotEmpty(t, f.Reason)
		body = d.gives(want, "GET", path, "")
		require.Contains(t, body, `role="alert"`)
	}
	d.gives(http.StatusNotFound, "POST", "/sites", "")
}

// aPDF keeps a file of which a picture can be drawn, and returns its SHA-256.
func (d *desk) aPDF() string {
	d.t.Helper()
	if _, err := exec.LookPath("pdftoppm"); err != nil {
		d.t.Skip("poppler's pdftoppm is not installed")
	}
	pdf := fpdf.New("P", "mm", "A4", "")
	pdf.AddPage()
	pdf.SetFont("Helvetica", "", 24)
	pdf.Cell(40, 10, "Analytical Engines")
	var file bytes.Buffer
	require.NoError(d.t, pdf.Output(&file))
	drawn, err := d.App.Repo.Put(d.t.Context(), file.Bytes())
	require.NoError(d.t, err)
	return drawn.SHA256
}

// TestThePictureOfADocument is drawn of its first page, by a reader that is shut in;
// what cannot be drawn has none.
func TestThePictureOfADocument(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	res, body := d.do("GET", "/documents/"+d.aPDF()+"/page.png", "")
	require.Equal(t, http.StatusOK, res.StatusCode, body)
	require.Equal(t, "image/png", res.Header.Get("Content-Type"))
	size, err := png.DecodeConfig(strings.NewReader(body))
	require.NoError(t, err)
	require.Equal(t, 800, size.Height)
	broken, err := d.App.Repo.Put(t.Context(), []byte("%PDF-1.4 and no more"))
	require.NoError(t, err)
	d.gives(http.StatusNotFound, "GET", "/documents/"+broken.SHA256+"/page.png", "")
}
