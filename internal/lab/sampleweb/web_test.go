package sampleweb_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
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
	w.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, address, nil))
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
}

func pdfText(t *testing.T, raw []byte) string {
	file := filepath.Join(t.TempDir(), "paper.pdf")
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	out, err := exec.Command("pdftotext", file, "-").Output()
	require.NoError(t, err)
	return string(out)
}

func TestLogTellsHowPoliteACrawlWas(t *testing.T) {
	t.Parallel()
	w := sampleweb.New(sampleweb.Options{Seed: 1})
	home := w.Truth().Authors[0].Homepage
	for range 2 {
		ask(w, home)
	}
	log := w.Log()
	require.Len(t, log, 2)
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
	w.ServeHTTP(rec, req)
	require.Equal(t, http.StatusNotModified, rec.Code)
}

// TestABrokenWebIsInTheLog: what was asked of it while it dropped connections is a
// request like any other, with no answer.
func TestABrokenWebIsInTheLog(t *testing.T) {
	t.Parallel()
	w := sampleweb.New(sampleweb.Options{Seed: 1})
	server := httptest.NewServer(w)
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
	require.Eventually(t, func() bool { return len(w.Log()) == 3 }, 10*time.Second, 10*time.Millisecond)
	var statuses []int
	for _, q := range w.Log() {
		statuses = append(statuses, q.Status)
		require.False(t, q.End.Before(q.Time))
	}
	require.Equal(t, []int{200, 0, 200}, statuses)
}
