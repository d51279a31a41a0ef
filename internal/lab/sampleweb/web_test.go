package sampleweb_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/sampleweb"
)

// ask sends a request as a client of the proxy would.
func ask(w *sampleweb.Web, address string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, address, nil))
	return rec
}

func TestTruthIsServed(t *testing.T) {
	t.Parallel()
	w := sampleweb.New(sampleweb.Options{Seed: 1})
	missing := map[string]int{}
	for _, p := range w.Truth().Papers {
		missing[p.Missing]++
		for i, u := range p.URLs {
			rec := ask(w, u)
			require.Equal(t, http.StatusOK, rec.Code, u)
			sum := sha256.Sum256(rec.Body.Bytes())
			require.Equal(t, p.SHA256[i], hex.EncodeToString(sum[:]), u)
		}
	}
	require.Equal(t, map[string]int{
		"": 24, sampleweb.ReasonNoHomepage: 1, sampleweb.ReasonRefused: 1, sampleweb.ReasonNotLinked: 1,
		sampleweb.ReasonRejected: 2, sampleweb.ReasonFailed: 1,
	}, missing)
	for _, a := range w.Truth().Authors {
		if a.Homepage != "" {
			assert.Equal(t, http.StatusOK, ask(w, a.Homepage).Code, a.Homepage)
		}
	}
	assert.GreaterOrEqual(t, len(w.Hosts()), 15)
}

func TestSameOptionsSameBytes(t *testing.T) {
	t.Parallel()
	one, two := sampleweb.New(sampleweb.Options{Seed: 7}), sampleweb.New(sampleweb.Options{Seed: 7})
	other := sampleweb.New(sampleweb.Options{Seed: 8})
	require.Equal(t, one.Truth(), two.Truth())
	require.NotEqual(t, one.Truth(), other.Truth())
	for _, a := range one.Truth().Authors {
		if a.Homepage != "" {
			require.Equal(t, ask(one, a.Homepage).Body.Bytes(), ask(two, a.Homepage).Body.Bytes())
		}
	}
}

// crawl visits everything below the given pages on their own hosts, breadth
// first, and returns every address that was linked with the page that did.
func crawl(t *testing.T, w *sampleweb.Web, seeds []string) (status map[string]int, parent map[string]string) {
	status, parent = map[string]int{}, map[string]string{}
	for queue := seeds; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if _, seen := status[at]; seen {
			continue
		}
		rec := ask(w, at)
		status[at] = rec.Code
		base, err := url.Parse(at)
		require.NoError(t, err)
		if to := rec.Header().Get("Location"); to != "" {
			queue = append(queue, to)
		}
		if !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/html") {
			continue
		}
		page, err := goquery.NewDocumentFromReader(rec.Body)
		require.NoError(t, err)
		page.Find("a[href], frame[src]").Each(func(_ int, s *goquery.Selection) {
			ref := s.AttrOr("href", s.AttrOr("src", ""))
			u, err := base.Parse(ref)
			require.NoError(t, err, ref)
			if _, known := parent[u.String()]; !known {
				parent[u.String()] = at
			}
			queue = append(queue, u.String())
		})
	}
	return status, parent
}

func TestPapersAreLinkedAsTheTruthSays(t *testing.T) {
	t.Parallel()
	w := sampleweb.New(sampleweb.Options{Seed: 3, Papers: 60})
	seeds := []string{"http://" + sampleweb.ProceedingsHost + "/"}
	for _, a := range w.Truth().Authors {
		if a.Homepage != "" {
			seeds = append(seeds, a.Homepage)
		}
	}
	status, parent := crawl(t, w, seeds)
	for _, p := range w.Truth().Papers {
		for _, u := range p.URLs {
			assert.NotEmpty(t, parent[u], "%s is linked from nowhere", u)
		}
	}
	broken, unreadable := 0, 0
	for u, code := range status {
		switch {
		case code == http.StatusNotFound:
			broken++
		case code >= 400:
			unreadable++
		}
		assert.NotEqual(t, http.StatusBadGateway, code, "%s, linked from %s", u, parent[u])
	}
	assert.Positive(t, broken, "a web without dead links is none")
	assert.Positive(t, unreadable)
	t.Logf("%d addresses, %d dead, %d refused or failing", len(status), broken, unreadable)
}

func TestPapersAreReadable(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("needs pdftotext (poppler-utils)")
	}
	w := sampleweb.New(sampleweb.Options{Seed: 1})
	read := 0
	for _, p := range w.Truth().Papers {
		if p.Missing != "" || !strings.HasSuffix(p.URLs[0], ".pdf") {
			continue
		}
		text := pdfText(t, ask(w, p.URLs[0]).Body.Bytes())
		flat := strings.Join(strings.Fields(text), " ")
		assert.Contains(t, flat, p.Title)
		for _, name := range p.Authors {
			assert.Contains(t, flat, name)
		}
		assert.Contains(t, text, "References")
		assert.Greater(t, len(strings.Fields(text)), 1200)
		read++
	}
	assert.Greater(t, read, 12)
	big := sampleweb.New(sampleweb.Options{Conferences: []sampleweb.Conference{{Host: "big.example", Pages: 500}}})
	assert.Contains(t, pdfText(t, ask(big, "http://big.example/e0/program/p7.pdf").Body.Bytes()), "Introduction")
}

func pdfText(t *testing.T, raw []byte) string {
	file := filepath.Join(t.TempDir(), "paper.pdf")
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	out, err := exec.Command("pdftotext", file, "-").Output()
	require.NoError(t, err)
	return string(out)
}

func TestMetadataService(t *testing.T) {
	t.Parallel()
	w := sampleweb.New(sampleweb.Options{Seed: 1})
	first, last := w.Years()
	papers := 0
	for y := first; y <= last; y++ {
		var answer struct {
			Result struct {
				Hits struct {
					Total string `json:"@total"`
					Hit   []struct {
						Info struct{ Title, Key, EE string }
					}
				}
			}
		}
		rec := ask(w, "http://dblp.example/search/publ/api?format=json&h=1000&f=0&q="+url.QueryEscape("toc:db/conf/sample/sample"+strconv.Itoa(y)+".bht:"))
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer))
		require.Equal(t, strconv.Itoa(len(answer.Result.Hits.Hit)), answer.Result.Hits.Total)
		papers += len(answer.Result.Hits.Hit)
		page := ask(w, "http://dblp.example/db/conf/sample/sample"+strconv.Itoa(y)+".xml").Body.String()
		for _, hit := range answer.Result.Hits.Hit {
			assert.Contains(t, page, `key="`+hit.Info.Key+`"`)
			assert.NotEqual(t, http.StatusBadGateway, ask(w, hit.Info.EE).Code)
		}
	}
	require.Equal(t, len(w.Truth().Papers), papers)
	assert.NotContains(t, ask(w, "http://dblp.example/search/publ/api?q=toc:db/conf/x/x1999.bht:&format=json").Body.String(), `"hit":`)
	for _, a := range w.Truth().Authors {
		require.Contains(t, ask(w, "http://dblp.example/pid/"+a.PID+".xml").Body.String(), `pid="`+a.PID+`"`)
	}
	require.Contains(t, ask(w, "http://dblp.example/db/conf/sample/index.xml").Body.String(), "db/conf/sample/sample"+strconv.Itoa(first)+".html")
}

func TestSearchFindsHomepages(t *testing.T) {
	t.Parallel()
	w := sampleweb.New(sampleweb.Options{Seed: 1})
	found, sought := 0, 0
	for _, a := range w.Truth().Authors {
		if a.Homepage == "" {
			continue
		}
		var answer struct {
			Results []struct{ URL string }
		}
		rec := ask(w, "http://search.example/search?format=json&q="+url.QueryEscape(a.Name+" SAMPLE"))
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer))
		sought++
		for _, r := range answer.Results {
			if r.URL == a.Homepage {
				found++
				break
			}
		}
	}
	t.Logf("%d of %d homepages among the first ten results", found, sought)
	assert.GreaterOrEqual(t, found*10, sought*8)
	assert.Equal(t, http.StatusForbidden, ask(w, "http://search.example/search?q=x").Code)
}

func TestLogTellsHowPoliteACrawlWas(t *testing.T) {
	t.Parallel()
	w := sampleweb.New(sampleweb.Options{Seed: 1, LogSize: 2})
	home := w.Truth().Authors[0].Homepage
	for range 3 {
		ask(w, home)
	}
	log := w.Log()
	require.Len(t, log, 2)
	require.EqualValues(t, 3, w.Requests())
	require.Equal(t, 1, log[0].InFlight)
	require.GreaterOrEqual(t, int64(log[1].Gap), int64(0))
	require.Equal(t, http.StatusOK, log[0].Status)
}

func TestUnchangedPagesCostNothing(t *testing.T) {
	t.Parallel()
	w := sampleweb.New(sampleweb.Options{Seed: 1})
	home := w.Truth().Authors[0].Homepage
	req := httptest.NewRequest(http.MethodGet, home, nil)
	req.Header.Set("If-Modified-Since", ask(w, home).Header().Get("Last-Modified"))
	rec := httptest.NewRecorder()
	w.Handler().ServeHTTP(rec, req)
	require.Equal(t, http.StatusNotModified, rec.Code)
}

// TestConference holds the large site to its promise: the number of pages asked
// for, every document linked, and a shape in which breadth-first gets most
// papers late.
func TestConference(t *testing.T) {
	t.Parallel()
	const host = "www.big.example"
	w := sampleweb.New(sampleweb.Options{Conferences: []sampleweb.Conference{{Host: host, Pages: 5000}}})
	documents, start := w.ConferenceSize(host)
	pages, found := 0, 0
	at := map[int]int{} // per cent of documents → pages
	seen := map[string]bool{start: true}
	for queue := []string{start}; len(queue) > 0; queue = queue[1:] {
		rec := ask(w, queue[0])
		require.Equal(t, http.StatusOK, rec.Code, queue[0])
		pages++
		base, _ := url.Parse(queue[0])
		page, err := goquery.NewDocumentFromReader(rec.Body)
		require.NoError(t, err)
		page.Find("a[href]").Each(func(_ int, s *goquery.Selection) {
			u, err := base.Parse(s.AttrOr("href", ""))
			require.NoError(t, err)
			if seen[u.String()] {
				return
			}
			seen[u.String()] = true
			if !strings.HasSuffix(u.Path, ".pdf") {
				queue = append(queue, u.String())
				return
			}
			require.True(t, bytes.HasPrefix(ask(w, u.String()).Body.Bytes(), []byte("%PDF")), u)
			found++ // a document is fetched when it is found
			if share := 100 * found / documents; at[share] == 0 {
				at[share] = pages
			}
		})
	}
	require.Equal(t, documents, found)
	require.InDelta(t, 5000, pages, 300)
	t.Logf("%d pages, %d documents; breadth-first: half after %d %% of the pages, 85 %% after %d %%",
		pages, documents, 100*at[50]/pages, 100*at[85]/pages)
	require.Greater(t, 100*at[85]/pages, 40)
}

// TestABrokenWebIsInTheLog: what was asked of it while it dropped connections is a
// request like any other, with no answer.
func TestABrokenWebIsInTheLog(t *testing.T) {
	t.Parallel()
	w := sampleweb.New(sampleweb.Options{Seed: 1})
	server := httptest.NewServer(w.Handler())
	defer server.Close()
	get := func() error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/people.html", nil)
		require.NoError(t, err)
		req.Host, req.Close = "www.cs.northfield.example", true
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
	require.NoError(t, get())
	w.Break(true)
	require.Error(t, get())
	w.Break(false)
	require.NoError(t, get())
	require.Eventually(t, func() bool { return w.Requests() == 3 }, 10*time.Second, 10*time.Millisecond)
	var statuses []int
	for _, q := range w.Log() {
		statuses = append(statuses, q.Status)
		require.False(t, q.End.Before(q.Time))
	}
	require.Equal(t, []int{200, 0, 200}, statuses)
}
