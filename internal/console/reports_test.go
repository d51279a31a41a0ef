package console

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/record/store"
)

// TestFewReportsAtATime: one more waits for its turn, and pages do without meanwhile,
// or show what was kept.
func TestFewReportsAtATime(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	for range reportsATime {
		d.reports.hands <- struct{}{}
	}
	id := url.PathEscape(sampleHarvest)
	require.Contains(t, d.page("/reports/"+id), "is being worked out")
	require.Contains(t, d.page("/papers?harvest="+id), "is being worked out")
	<-d.reports.hands
	r := devtest.Must(d.reports.whole(t.Context(), sampleHarvest))(t)
	require.Equal(t, sampleHarvest, r.Harvest.ID)
	require.Len(t, r.Missing, 2)

	d.reports.hands <- struct{}{}
	d.exec(`UPDATE harvest_reports SET made_at = now() - interval '1 day', took = '1 minute'`)
	p := answer[papersPage](d, "/papers?harvest="+id+"&state=missing")
	require.False(t, p.Unknown)
	require.Less(t, *p.Why, time.Now().Add(-time.Hour), "what was kept, since a better one takes a minute")
	require.Equal(t, "ambiguous", p.Papers[0].Reason)
	require.Contains(t, d.page("/reports/"+id), "Recall by year")
}

// TestReasonsAreOfPapersThatAreMissing now, whatever they were when the reasons were
// worked out.
func TestReasonsAreOfPapersThatAreMissing(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	d.explained(sampleHarvest)
	d.exec(`UPDATE harvest_reports SET took = '1 minute'`)
	d.exec(`UPDATE matches SET settled='yes' WHERE verdict='ambiguous'`)
	p := answer[papersPage](d, "/papers?harvest="+url.QueryEscape(sampleHarvest))
	require.Equal(t, "found", p.Papers[2].State)
	require.Empty(t, p.Papers[2].Reason)
	d.read(&p, "/papers?reason=ambiguous&harvest="+url.QueryEscape(sampleHarvest))
	require.Empty(t, p.Papers)
}

// TestReportsAreDatedByTheRecord: whose clock is ahead keeps none that stands for the
// later ones of others, and what is old is made anew whatever the clock of the console.
func TestReportsAreDatedByTheRecord(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(fmt.Sprint("the record is ahead by ", ahead), func(t *testing.T) {
			t.Parallel()
			dsn := devtest.PostgresApart(t, ahead)
			db := devtest.Must(store.Open(t.Context(), dsn, 1))(t)
			db.Close()
			d := openOn(t, dsn, nil, false)
			d.sample()
			made := func() time.Time {
				return storetest.Get[time.Time](t, d.Pool, `SELECT made_at FROM harvest_reports`)
			}
			began := devtest.Must(d.Now(t.Context()))(t)
			d.explained(sampleHarvest)
			ended := devtest.Must(d.Now(t.Context()))(t)
			require.WithinRange(t, made(), began, ended)

			d.exec(`UPDATE harvest_reports SET made_at = now(), took = '1 hour'`)
			kept := made()
			h := devtest.Must(d.FindHarvest(t.Context(), sampleHarvest))(t)
			r := devtest.Must(d.reports.latest(t.Context(), h))(t)
			require.True(t, kept.Equal(r.Made))
			require.Empty(t, d.reports.making, "it is good enough")

			d.exec(`UPDATE harvest_reports SET made_at = now() - interval '1 minute', took = '1 ms'`)
			kept = made()
			_, err := d.reports.latest(t.Context(), h)
			require.NoError(t, err)
			require.Eventually(t, func() bool { return made().After(kept) }, time.Minute, 10*time.Millisecond)
		})
	}
}

// TestFewSearchesAtATime: whoever searches texts takes a turn, and gives it back.
func TestFewSearchesAtATime(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	require.Equal(t, searchesATime, cap(d.searches.all))
	d.searches.all = make(chan struct{})
	ended := make(chan error)
	go func() {
		r := httptest.NewRequest(http.MethodGet, "/documents?text=web", nil)
		err := r.ParseForm()
		if err == nil {
			_, err = documents(t.Context(), d.Console, &asked{Request: r})
		}
		ended <- err
	}()
	select {
	case <-d.searches.all:
	case err := <-ended:
		t.Fatal("it took no turn", err)
	}
	d.searches.all <- struct{}{}
	require.NoError(t, <-ended)
}

// TestASlowCatalogueHoldsNoRequest: a start that waits for a name ends, and an estimate goes on for who asks again;
// one that has no turn yet does not.
func TestASlowCatalogueHoldsNoRequest(t *testing.T) {
	t.Parallel()
	listed := make(chan struct{})
	d := open(t, func(o *Options) { o.Harvests = slow{listed: listed} }, false)
	d.startTime = time.Millisecond
	places := d.listings.all
	d.listings.all = make(chan struct{}) // others have them
	require.Contains(t, d.gives(http.StatusGatewayTimeout, "POST", "/estimates", "goal=nobody+knows"), "still listing the papers of nobody knows")
	require.Eventually(t, func() bool {
		d.estimates.mu.Lock()
		defer d.estimates.mu.Unlock()
		return len(d.estimates.making) == 0
	}, time.Minute, time.Millisecond)
	d.listings.all = places
	for path, want := range map[string]string{"/harvests": "by its key", "/estimates": "still listing the papers of nobody knows"} {
		body := d.gives(http.StatusGatewayTimeout, "POST", path, "goal=nobody+knows", "Accept", "application/json")
		require.Contains(t, body, want)
	}
	require.Eventually(t, func() bool {
		_, body := d.do("POST", "/estimates", "goal=nobody+knows")
		return strings.Contains(body, "the papers of nobody knows (22 of 33 volumes)")
	}, time.Minute, 10*time.Millisecond)
	require.Regexp(t, `(?s)src="/live.js".*data-again`, d.gives(http.StatusGatewayTimeout, "POST", "/estimates", "goal=nobody+knows"))
	m := d.estimates.make(HarvestRequest{Goal: "nobody knows"}, nil)
	listed <- struct{}{}
	<-m.done
	d.startTime = 10 * time.Second
	_, body := d.do("POST", "/estimates", "goal=nobody+knows")
	require.Contains(t, body, "listed at last", "what was begun goes on")
	require.Empty(t, d.estimates.making)
	d.estimates.make(HarvestRequest{Goal: "papers:own"}, func(context.Context) (p Estimated, err error) { return p, errNoPage })
	close(listed)
	_, body = d.do("POST", listsPath, "name=own&list=another")
	require.Contains(t, body, "listed at last", "a list that is entered again has its own papers")
}

// slow waits for a catalogue that answers once.
type slow struct {
	Harvests
	listed chan struct{}
}

func (slow) Start(ctx context.Context, _ HarvestRequest) (id, did string, err error) {
	<-ctx.Done()
	return "", "", ctx.Err()
}

func (slow) EnterList(context.Context, string, string, bool) (goal, leftOut string, err error) {
	return "papers:own", "", nil
}

func (s slow) Estimate(ctx context.Context, _ HarvestRequest, listing func(string)) (Estimated, error) {
	listing("22 of 33 volumes")
	select {
	case <-s.listed:
		return Estimated{Lines: []string{"listed at last"}}, nil
	case <-ctx.Done():
		return Estimated{}, ctx.Err()
	}
}

// TestOneUserKeepsNobodyOut of what only some may do at a time.
func TestOneUserKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	exports := newTurns(exportsATime)
	as := func(name string) context.Context { return context.WithValue(t.Context(), whoKey{}, who{name: name}) }
	for range exportsATime / 2 {
		_, err := exports.turn(as("a"))
		require.NoError(t, err)
	}
	ended, end := context.WithCancel(as("a"))
	end()
	_, err := exports.turn(ended)
	require.ErrorIs(t, err, context.Canceled)
	over := devtest.Must(exports.turn(as("b")))(t)
	over()
}

// TestPagesSayWhatHoldsNow of what was paused, ended or is never asked.
func TestPagesSayWhatHoldsNow(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	at := "/harvests/" + url.PathEscape(sampleHarvest)
	require.Contains(t, d.page(at), "1.5 answers a second")
	require.NotContains(t, d.page(at), "As counted at the end")
	require.NotContains(t, d.page("/papers?harvest="+sampleHarvest+"&state=found&reason=ambiguous"), "/papers/conf")
	require.Contains(t, d.page("/papers?harvest="+sampleHarvest+"&state=missing&reason=ambiguous"), "/papers/conf")
	require.Contains(t, d.page("/sites/www.ada.example"), "Next crawl")
	d.report(sampleHarvest, "in stage crawl")
	d.exec(`UPDATE harvests SET paused=true`)
	d.exec(`UPDATE sites SET paused_at=now(), paused='why', state='stopped' WHERE host='www.ada.example'`)
	require.Contains(t, d.page(at), "0 of 1 done, 1 paused")
	require.NotContains(t, d.page(at), "answers a second")
	require.NotContains(t, d.page("/sites/www.ada.example"), "Next crawl")
	require.NotContains(t, d.page("/sites/bad.example"), "Pause it")
	d.exec(`UPDATE harvests SET paused=false, stage='complete', completed_at=now()`)
	require.Contains(t, d.page(at), "As counted at the end")
	d.report(sampleHarvest, "is complete")
	tx := devtest.Must(d.Pool.Begin(t.Context()))(t)
	_, err := tx.Exec(t.Context(), `UPDATE harvests SET completed_at=NULL`) // it goes on just now
	require.NoError(t, err)
	require.Contains(t, d.page(at), "As counted at the end")
	require.NoError(t, tx.Rollback(t.Context()))
}
