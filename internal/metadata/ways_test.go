package metadata

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/fetch"
)

// freeGate lets everything through at once.
type freeGate struct{}

func (freeGate) Turn(context.Context, string, time.Duration) (func(fetch.Visit), error) {
	return func(fetch.Visit) {}, nil
}

// TestRest checks that a way that keeps failing is left alone, and then tried again.
func TestRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg, s := stubConfig(t, map[string][]reply{"dblp.org/pid": {{status: 503}}, "uni-trier.de/pid": one(personPage("1/2", "Ann Lee"))})
		cfg.Backoff = time.Second
		d := NewDBLP(cfg)
		ask := func(want int) {
			before := s.count("dblp.org/pid")
			_, err := d.Person(t.Context(), "1/2")
			assert.NoError(t, err)
			assert.Equal(t, want, s.count("dblp.org/pid")-before)
		}
		ask(3) // once, and two repeats
		ask(3) // one broken record is not yet a broken service
		ask(0)
		time.Sleep(5 * time.Minute)
		ask(3)
	})
}

// TestWall checks that a check for browsers is named, not insisted on, and that
// its host is left alone for long.
func TestWall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wall := `<!doctype html><html lang="en"><head><title>Making sure you&#39;re not a bot!</title><link rel="stylesheet" href="/.within.website/x/xess.css"></head></html>`
		cfg, s := stubConfig(t, map[string][]reply{"dblp.org": {{status: 500, body: wall}}, "uni-trier.de": {{status: 200, body: wall}}})
		d := NewDBLP(cfg)
		for range 2 {
			_, err := d.Volumes(t.Context(), "conf/exa", single(2003))
			assert.True(t, as[ErrUnavailable](t, err).Wall)
			assert.ErrorContains(t, err, "check for browsers")
			assert.ErrorContains(t, err, "dblp.xml.gz")
		}
		assert.Len(t, s.asked, 2)
		time.Sleep(restAtWall)
		_, _ = d.Volumes(t.Context(), "conf/exa", single(2003))
		assert.Len(t, s.asked, 4)
	})
}

// TestRetryAfterIsWaitedFor where it is short.
func TestRetryAfterIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg, s := stubConfig(t, map[string][]reply{"pid/1/2": {
			{status: 429, header: map[string]string{"Retry-After": "90"}},
			{status: 503, header: map[string]string{"Retry-After": time.Now().Add(2 * time.Minute).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")}},
			{body: personPage("1/2", "Ann Lee")},
		}})
		begin := time.Now()
		_, err := NewDBLP(cfg).Person(t.Context(), "1/2")
		require.NoError(t, err)
		// The date lies 30 s after the first 90 s.
		assert.InDelta(t, 122, time.Since(begin).Seconds(), 3)
		assert.Len(t, s.asked, 3)

		cfg, _ = stubConfig(t, map[string][]reply{"pid/": {{status: 429, header: map[string]string{"Retry-After": "3600"}}}})
		begin = time.Now()
		_, err = NewDBLP(cfg).Person(t.Context(), "1/2")
		as[ErrUnavailable](t, err)
		assert.LessOrEqual(t, time.Since(begin), longestWait)
	})
}

// TestRedirects: what a service makes of what it was asked, and puts into the address that it
// sends on to, is in no error.
func TestRedirects(t *testing.T) {
	t.Parallel()
	to := func(addr string) []reply { return []reply{{status: 301, header: map[string]string{"Location": addr}}} }
	person := one(personPage("3/4", "Ann Lee"))
	for name, c := range map[string]struct {
		replies map[string][]reply
		ok      bool
	}{
		"moved":       {map[string][]reply{"pid/1/2": to("/pid/3/4.xml"), "pid/3/4": person}, true},
		"other host":  {map[string][]reply{"pid/1/2": to("http://169.254.169.254/latest")}, false},
		"other site":  {map[string][]reply{"pid/1/2": to("https://elsewhere.example/pid/3/4.xml"), "pid/3/4": person}, false},
		"in a circle": {map[string][]reply{"pid/1/2": to("/pid/1/2.xml")}, false},
		"a key":       {map[string][]reply{"pid/1/2": to("http://elsewhere.example/echoed-key?echoed-query")}, false},
		"no address":  {map[string][]reply{"pid/1/2": to("http://[echoed-key/")}, false},
		"refused":     {map[string][]reply{"pid/1/2": to("https://dblp.org/echoed-key.xml"), "/echoed-key": {{status: 403, body: "no"}}}, false},
		"not found":   {map[string][]reply{"pid/1/2": to("https://dblp.org/pid/echoed-key.xml?echoed"), "/echoed-key": {{status: 404}}}, false},
	} {
		cfg, s := stubConfig(t, c.replies)
		cfg.DBLPMirrorURL = "-"
		p, err := NewDBLP(cfg).Person(t.Context(), "1/2")
		require.Equal(t, c.ok, (err == nil), name)
		assert.NotContains(t, fmt.Sprint(err), "echoed", name)
		assert.False(t, (c.ok && p.Author.PID != "3/4"), name)
		require.LessOrEqual(t, s.count("169.254")+s.count("elsewhere.example"), 0, name)
		assert.LessOrEqual(t, len(s.asked), maxHops+1, name)
	}
}

func TestMirrorOfAnotherDBLP(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]int{"": 2, "https://dblp.org": 2, "http://dblp.org": 2, "http://127.0.0.1:8080": 1, "https://dblp.example.org": 1} {
		assert.Equal(t, want, len(NewDBLP(Config{DBLPURL: addr}).bases), addr)
	}
}
