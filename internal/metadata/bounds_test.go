package metadata

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/growthtest"
)

// pagesWithoutEnd answers the n-th request with a page that is not the last.
type pagesWithoutEnd struct {
	of func(n int) string
	n  int
}

func (p *pagesWithoutEnd) RoundTrip(r *http.Request) (*http.Response, error) {
	p.n++
	if p.n > 50 {
		return nil, errors.New("asked without end")
	}
	return response(r, reply{body: p.of(p.n)}), nil
}

// TestListsEndByName lets each catalogue send pages for ever.
func TestListsEndByName(t *testing.T) {
	t.Parallel()
	same := func(s string) func(int) string { return func(int) string { return s } }
	for name, c := range map[string]struct {
		client string
		of     func(n int) string
		want   string
	}{
		"a cursor again": {"crossref", same(`{"message":{"total-results":9,"next-cursor":"a","items":[{"DOI":"10.1/a"}]}}`), errNothingNew.Error()},
		"another cursor": {"crossref", func(n int) string {
			return fmt.Sprintf(`{"message":{"total-results":%d,"next-cursor":"%d","items":[{"DOI":"10.1/a"}]}}`, n+9, n)
		}, errNothingNew.Error()},
		"a cursor of OpenAlex": {"openalex", same(`{"meta":{"count":9,"next_cursor":"a"},"results":[{"id":"W1"}]}`), errNothingNew.Error()},
		"a token again":        {"oai", same(`<OAI-PMH><ListRecords><resumptionToken>a</resumptionToken></ListRecords></OAI-PMH>`), "same resumption token"},
		"two tokens in turn": {"oai", func(n int) string {
			return fmt.Sprintf(`<OAI-PMH><ListRecords><resumptionToken>%d</resumptionToken></ListRecords></OAI-PMH>`, n%2)
		}, "same resumption token"},
		"a total that grows": {"dblp search", func(n int) string {
			return fmt.Sprintf(`{"result":{"hits":{"@total":"%d","hit":{"info":{"key":"a"}}}}}`, n+9)
		}, errNothingNew.Error()},
		"more preprints than asked": {"arxiv", same(`<feed>` + strings.Repeat(`<entry><id>http://arxiv.org/abs/1234.5678</id></entry>`, 6) + `</feed>`), "more than 5 entries"},
		"more people than asked":    {"semantic scholar people", same(`[{"authorId":"1"},{"authorId":"2"}]`), "more than 1 authors"},
		"a person of addresses":     {"orcid", same(`{"researcher-urls":{"researcher-url":[` + growthtest.Numbered(`{"url":{"value":"https://a.example/%s"}},`, 90_000) + `{}]}}`), "of a person"},
		"a name of 60,000 bytes":    {"dblp person", same(`<dblpperson name="` + strings.Repeat("a", 60_000) + `" pid="1/2"/>`), "bytes in a name"},
		"a title of a megabyte":     {"crossref", same(`{"message":{"total-results":1,"items":[{"type":"journal-article","DOI":"10.1/a","issued":{"date-parts":[[2003]]},"title":["` + strings.Repeat("a", 1<<20) + `"]}]}}`), "bytes in a title"},
		"an answer too long":        {"oai", same(strings.Repeat(" ", maxBody+1)), "bytes in an answer"},
	} {
		cfg, _ := stubConfig(t, nil)
		pages := &pagesWithoutEnd{of: c.of}
		cfg.HTTPClient, cfg.OpenAlexKey, cfg.DBLPMirrorURL = &http.Client{Transport: pages}, "k", "-"
		err := foreign[c.client](t.Context(), cfg)
		as[ErrBadAnswer](t, err)
		assert.ErrorContains(t, err, c.want, name)
		assert.Less(t, len(err.Error()), 1000, name)
		assert.LessOrEqual(t, pages.n, 4, name)
	}
}

// TestOAIListsAreBounded as those of other catalogues are: here in time.
func TestOAIListsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		endless := &pagesWithoutEnd{of: func(n int) string {
			return fmt.Sprintf(`<OAI-PMH><ListRecords><resumptionToken>%d</resumptionToken></ListRecords></OAI-PMH>`, n)
		}}
		cfg, _ := stubConfig(t, nil)
		cfg.HTTPClient, cfg.Delays.OAI = &http.Client{Transport: endless}, 20*time.Minute
		_, err := NewOAI(cfg, "https://oai.example.org").Papers(t.Context(), gleaner.Venue{IDs: map[string]string{"oai": "x"}}, gleaner.Years{})
		assert.Equal(t, "hours for a list", as[ErrTooMuch](t, err).What, endless.n)
	})
}

func TestPagesAreCounted(t *testing.T) {
	t.Parallel()
	var p paging
	for p.pages < maxListPages-1 {
		require.NoError(t, p.more(1, nil))
	}
	big, late := paging{bytes: maxListBytes}, paging{began: time.Now().Add(-maxListTime)}
	assert.EqualValues(t, maxListPages, as[ErrTooMuch](t, p.more(1, nil)).Limit)
	assert.EqualValues(t, maxListBytes, as[ErrTooMuch](t, big.more(1, "a title")).Limit)
	assert.Equal(t, "hours for a list", as[ErrTooMuch](t, late.more(1, nil)).What)
	assert.EqualValues(t, maxListEntries, as[ErrTooMuch](t, new(paging).more(maxListEntries, nil)).Limit)
}

// TestCataloguesTextIsVisible: what turns or hides text does not reach the record.
func TestCataloguesTextIsVisible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"A\x00 B\x1b[2J C\u0085D":                    "A B[2J C D",
		"\u202eevil\u202c \u2066x\u2069\ufeff":       "evil x",
		"&#8238;evil &#x1b;[31m":                     "evil [31m",
		"na\u00adme\u200b":                           "name",
		"\u0646\u0627\u0645\u0647\u200c\u0627\u06cc": "\u0646\u0627\u0645\u0647\u200c\u0627\u06cc",
	} {
		assert.Equal(t, want, cleanTitle(in), in)
		assert.Equal(t, want, cleanName(in), "name %v", in)
	}
}

func TestSoundRefusesByName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", maxTitle+1)
	for want, p := range map[string]gleaner.Paper{
		"bytes in a title":       {Title: long},
		"bytes in an identifier": {Key: long},
		"bytes in a name":        {Authors: []gleaner.Author{{Name: long}}},
		"bytes in a link":        {Links: []string{long}},
		"links of a paper":       {Links: make([]string, maxLinks+1)},
		"authors of a paper":     {Authors: make([]gleaner.Author, maxAuthors+1)},
	} {
		_, err := Sound(t.Context(), slog.Default(), "x", []gleaner.Paper{{Key: "good", Title: "Good"}, p, p})
		require.ErrorContains(t, err, want)
		assert.LessOrEqual(t, len(err.Error()), 1000, want)
	}
}

// TestOneUnsoundPaperRefusesNoList: what one depositor of a repository writes does not keep
// a venue from being listed.
func TestOneUnsoundPaperRefusesNoList(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	to := slog.New(slog.NewTextHandler(&log, nil))
	for _, n := range []int{3, 10} { // the volume of a workshop, and of a conference
		papers := slices.Repeat([]gleaner.Paper{{Key: "good", Title: "Good"}}, n)
		papers[1] = gleaner.Paper{Key: "long", Title: strings.Repeat("a", maxTitle+1)}
		got, err := Sound(t.Context(), to, "x", papers)
		require.NoError(t, err)
		assert.Len(t, got, n-1)
		assert.Contains(t, log.String(), "long")
	}
}

// TestSoundEndsWithItsContext: papers over which the program works long are not all tried
// when nobody waits any more.
func TestSoundEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := Sound(ctx, slog.Default(), "x", []gleaner.Paper{{Key: "good", Title: "Good"}})
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, got)
}

// TestAPaperThatPanicsIsLeftOut by its name, and those beside it are not.
func TestAPaperThatPanicsIsLeftOut(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	to := slog.New(slog.NewTextHandler(&log, nil))
	got := usable(t.Context(), to, "x", []gleaner.Paper{{Key: "a"}, {Key: "bad"}, {Key: "b"}}, func(p gleaner.Paper) {
		if p.Key == "bad" {
			panic("what nobody thought of")
		}
	})
	require.Equal(t, []gleaner.Paper{{Key: "a"}, {Key: "b"}}, got, &log)
	assert.Contains(t, log.String(), "x: bad", &log)
}

// TestNoRedirectToPlain: what is asked for under https is not asked for without.
func TestNoRedirectToPlain(t *testing.T) {
	t.Parallel()
	moved := reply{status: 301, header: map[string]string{"Location": "http://dblp.org/pid/3/4.xml"}}
	cfg, s := stubConfig(t, map[string][]reply{"pid/1/2": {moved}, "pid/3/4": one(personPage("3/4", "Ann Lee"))})
	cfg.DBLPMirrorURL = "-"
	_, err := NewDBLP(cfg).Person(t.Context(), "1/2")
	require.Error(t, err)
	assert.Zero(t, s.count("pid/3/4"))
}

// gateOfOne lets nobody through while a host is parked.
type gateOfOne struct {
	fetch.Gate
	parked bool
}

func (g *gateOfOne) Turn(ctx context.Context, host string, d time.Duration) (func(fetch.Visit), error) {
	if g.parked {
		return nil, &fetch.ParkedError{Host: host, Wait: time.Hour}
	}
	return g.Gate.Turn(ctx, host, d)
}

// TestAPersonsWordEndsARest: a way that rests is asked at once when a person said,
// since it failed, that it is back; and where the gate keeps a host, its word counts.
func TestAPersonsWordEndsARest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg, s := stubConfig(t, map[string][]reply{"pid/1/2": {{status: 503}, {status: 503}, {body: personPage("1/2", "Ann Lee")}}})
		cfg.DBLPMirrorURL, cfg.Retries = "-", -1
		gate := &gateOfOne{Gate: NewLocalGate()}
		cfg.Gate = gate
		d := NewDBLP(cfg)
		var down ErrUnavailable
		asked := func(ctx context.Context, want int, good bool) {
			t.Helper()
			if _, err := d.Person(ctx, "1/2"); (err == nil) != good || len(s.asked) != want || !good && !errors.As(err, &down) {
				t.Errorf("got %v after %d requests, want %d", err, len(s.asked), want)
			}
		}
		before := time.Now()
		time.Sleep(time.Second)
		asked(t.Context(), 1, false)
		asked(t.Context(), 2, false)
		asked(t.Context(), 2, false) // it rests
		asked(Anew(t.Context(), before), 2, false)
		time.Sleep(time.Second)
		asked(Anew(t.Context(), time.Now()), 3, true)

		gate.parked = true
		for range 5 {
			asked(t.Context(), 3, false)
		}
		assert.Equal(t, time.Hour, down.RetryAfter)
		gate.parked = false
		asked(t.Context(), 4, true)
	})
}
