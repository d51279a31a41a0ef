package harvest_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/catalogues"
	"gleaner/internal/service/config"
)

// alone is a venue of authors who wrote a paper each, with the homepages that the
// directory names of them.
func alone(homepages map[string][]string) *outside {
	var papers []gleaner.Paper
	for i := range len(homepages) {
		papers = append(papers, gleaner.Paper{Key: fmt.Sprintf("conf/exa/P%02d", i), Venue: smallKey, Year: 2003, Title: fmt.Sprintf("Sorting Measured Example %d by Weight", i),
			Authors: []gleaner.Author{{PID: fmt.Sprintf("7/%d", i), Name: "Jane Roe" + letters(i)}}})
	}
	return newOutside(catalogues.Catalogue{Venue: smallKey, Name: "EXA", Title: "Symposium on Examples",
		Volumes: []catalogues.Volume{{TOC: "db/conf/exa/exa2003", Year: 2003, Papers: papers}}, Homepages: homepages})
}

// letters tells people apart, and their addresses.
func letters(i int) string { return string([]byte{'a' + byte(i/26), 'a' + byte(i%26)}) }

// unindexed leaves the local index out.
func unindexed(p *config.Policy) { p.Index.On = false }

var nothingButListed = map[string]string{"search": "none"}

// No page of evidence is read beyond 4 MiB, whatever its server would send, and
// none that is longer is kept; one that is shorter is.
func TestEvidenceIsBounded(t *testing.T) {
	t.Parallel()
	const most, endless = 4 << 20, 256 << 20
	o := alone(map[string][]string{"7/0": {"http://huge.example.edu/~roeaa/"}, "7/1": {"http://large.example.edu/~roeab/"}})
	var mu sync.Mutex
	sent := map[string]int{}
	stream := func(name string, size int) http.HandlerFunc {
		head := []byte("<html><head><title>" + name + "'s home page</title></head><body><h1>" + name + "</h1><p>research</p>")
		filler := bytes.Repeat([]byte("<p>A line of a page without an end.</p>\n"), 1000)
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			n := 0
			for body := head; n < size; body = filler[:min(len(filler), size-n)] {
				wrote, err := w.Write(body)
				if n += wrote; err != nil {
					break
				}
			}
			mu.Lock()
			defer mu.Unlock()
			sent[r.URL.Host] += n
		}
	}
	o.hosts["huge.example.edu"], o.hosts["large.example.edu"] = stream("Jane Roeaa", endless), stream("Jane Roeab", most-1000)
	a := o.open(t, "", nothingButListed, unindexed)
	id := listed(t, a)
	first(t, a, id, time.Time{})

	require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(sent) == 2 }, time.Minute, 10*time.Millisecond)
	mu.Lock()
	defer mu.Unlock()
	assert.Less(t, sent["huge.example.edu"], endless/4, "what lay in the network's buffers, too")
	assert.Equal(t, most-1000, sent["large.example.edu"])
	outcomes := storetest.Map[string, string](t, a.DB.Pool, `SELECT host, outcome FROM page_cache`)
	kept := storetest.Map[string, int](t, a.DB.Pool, `SELECT host, coalesce(length(body), 0) FROM page_cache`)
	assert.Equal(t, map[string]string{"huge.example.edu": "body-too-large", "large.example.edu": "success"}, outcomes)
	assert.Equal(t, map[string]int{"huge.example.edu": 0, "large.example.edu": most - 1000}, kept)
}

// However many authors a batch has, a process has the pages of twelve of them
// under way, and asks for eight of one author.
func TestEvidenceInFlightIsBounded(t *testing.T) {
	t.Parallel()
	const authors, abreast, pages = 30, 12, 8
	homepages := map[string][]string{}
	for i := range authors - 1 {
		homepages[fmt.Sprintf("7/%d", i)] = []string{fmt.Sprintf("http://host%d.example.edu/~roe%s/", i, letters(i))}
	}
	for i := range 3 * pages { // of the last one, and all somebody else's
		last := fmt.Sprintf("7/%d", authors-1)
		homepages[last] = append(homepages[last], fmt.Sprintf("http://other%d.example.edu/~smith/", i))
	}
	o := alone(homepages)
	var mu sync.Mutex
	meet := sync.NewCond(&mu)
	flying, most, others := 0, 0, 0
	answer := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		mu.Lock()
		flying++
		most = max(most, flying)
		if strings.HasPrefix(r.URL.Host, "other") {
			others++
		}
		for meet.Broadcast(); most < abreast; { // the first ones meet
			meet.Wait()
		}
		flying--
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><head><title>Bob Smith</title></head><body><h1>Bob Smith</h1><p>Gardening.</p></body></html>")
	}
	for _, urls := range homepages {
		for _, u := range urls {
			o.hosts[strings.Split(u, "/")[2]] = answer
		}
	}
	a := o.open(t, "", nothingButListed, unindexed)
	id := listed(t, a)
	first(t, a, id, time.Time{})
	assert.Equal(t, abreast, most)
	assert.Positive(t, others)
	assert.LessOrEqual(t, others, pages)
}

// A search engine of one's own that fails is left alone for a minute, however long
// a web site would be, with one warning for all authors, and asked again then.
func TestASearchEngineThatFailsIsLeftAlone(t *testing.T) {
	t.Parallel()
	const engine = "search.example.net"
	o := circle()
	var warned lines
	o.log = slog.New(slog.NewTextHandler(&warned, &slog.HandlerOptions{Level: slog.LevelWarn}))
	o.set(engine, http.StatusServiceUnavailable)
	o.hosts[engine] = func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"results":[{"url":"http://people.example.org/~apoe/","title":"Adalbert Poe's home page"}]}`)
	}
	a := o.open(t, "", map[string]string{"search": "searxng", "searxng-url": "http://" + engine, "search-delay": "1ms"}, unindexed, func(p *config.Policy) {
		p.Pace.ParkAfter, p.Pace.ParkFor, p.Crawl.RetryBase = 2, 6*time.Hour, 3*time.Millisecond
	})
	id := listed(t, a)
	warned.reset()
	first(t, a, id, time.Time{})
	require.Equal(t, 2, o.pagesAsked(engine), "four authors want it")
	require.Equal(t, 1, strings.Count(warned.String(), "level=WARN"), warned.String())
	require.Contains(t, warned.String(), "authors=4")
	parked := storetest.Get[float64](t, a.DB.Pool, `SELECT extract(epoch FROM parked_until - now())::float8 FROM sites WHERE host=$1`, engine)
	require.Greater(t, parked, 0.)
	require.LessOrEqual(t, parked, 60.)

	again := func() {
		storetest.Exec(t, a.DB.Pool, `UPDATE homepage_decisions SET next_try=now() WHERE next_try IS NOT NULL`)
		first(t, a, id, time.Time{})
	}
	pass := func(by string) {
		storetest.Exec(t, a.DB.Pool, `UPDATE sites SET parked_until=parked_until - $1::interval, next_allowed_at=next_allowed_at - $1::interval,
			paced_until=paced_until - $1::interval, asked_until=asked_until - $1::interval WHERE host=$2`, by, engine)
	}
	o.set(engine, 0)
	storetest.Exec(t, a.DB.Pool, `UPDATE sites SET parked_until=now() + interval '59 seconds', next_allowed_at=now() + interval '59 seconds' WHERE host=$1`, engine)
	again()
	require.Equal(t, 2, o.pagesAsked(engine), "it has rested for a second")
	pass("59 seconds")
	again()
	require.Greater(t, o.pagesAsked(engine), 2, "it has rested for a minute")
	require.Equal(t, "http://people.example.org/~apoe/", best(t, a, id)["1/2"])
}

// lines is what is logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Reset()
}
