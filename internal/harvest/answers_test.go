package harvest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/metadata"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// TestACataloguesAnswerThatKillsIsSetAside: a volume over whose answer process after process dies
// is asked for in another way; where there is none, the error names what was asked for, and the
// harvest ends with it. A person's word has it asked for again.
func TestACataloguesAnswerThatKillsIsSetAside(t *testing.T) {
	t.Parallel()
	o, dsn := circle(), devtest.Postgres(t)
	a := o.open(t, dsn, nil)
	years := gleaner.Years{From: 2003, To: 2003}
	id := begin(t, a, smallKey, years)
	dying := func(n int) {
		for range n {
			answers := harvest.Answers{DB: o.open(t, dsn, nil).DB}
			d := metadata.NewDBLP(metadata.Config{
				HTTPClient: o.Client(), DBLPMirrorURL: "-", DBLPURL: "http://dblp.org",
				Delays: metadata.Delays{DBLP: 1},
				Begin: func(ctx context.Context, what string) (func(), error) {
					lives, dies := context.WithCancel(ctx)
					end, err := answers.Begin(lives, what)
					return func() {
						if dies(); !strings.Contains(what, "exa2003") { // else it does nothing any more
							end()
						}
					}, err
				},
			})
			_, _ = d.Papers(t.Context(), metadata.Volume{Venue: smallKey, Years: years, TOC: "db/conf/exa/exa2003"})
			storetest.Exec(t, a.DB.Pool, `UPDATE page_cache SET reading = reading - interval '1 hour'`)
		}
	}
	ask := func() ([]gleaner.Paper, error) {
		volumes, err := a.Stages.DBLP.Volumes(t.Context(), smallKey, years)
		require.NoError(t, err)
		return a.Stages.DBLP.Papers(t.Context(), volumes[0])
	}
	dying(frontier.MaxDeaths)
	papers, err := ask()
	require.NoError(t, err)
	require.NotEmpty(t, papers)
	dying(2 * frontier.MaxDeaths)
	_, err = ask()
	var bad metadata.ErrBadAnswer
	require.ErrorAs(t, err, &bad)
	require.Regexp(t, `exa2003.*`+string(frontier.Killed)+`: 3 processes ended`, err.Error())
	_, err = a.Stages.ListPapers(t.Context(), id, smallKey, years, nothing)
	var none metadata.ErrNoVolume // it is the only one
	require.ErrorAs(t, err, &none)
	require.Contains(t, err.Error(), "exa2003")
	require.Contains(t, err.Error(), frontier.Killed)

	_, err = a.DB.AskAgain(t.Context(), store.RetryFilter{Harvest: id}, true)
	require.NoError(t, err)
	papers, err = ask()
	require.NoError(t, err)
	require.NotEmpty(t, papers)
	var noted int
	require.NoError(t, a.DB.Pool.QueryRow(t.Context(), `SELECT count(*) FROM page_cache WHERE host=''`).Scan(&noted))
	require.Zero(t, noted, "what was read leaves nothing")
}

// TestReadersOfASlowAnswerLive: readers that come while others read the same answer, for
// longer than a dead one would be waited for, find nobody dead.
func TestReadersOfASlowAnswerLive(t *testing.T) {
	t.Parallel()
	o, dsn := circle(), devtest.Postgres(t)
	for range frontier.MaxDeaths + 1 {
		db := o.open(t, dsn, nil).DB
		end, err := (&harvest.Answers{DB: db}).Begin(t.Context(), "a large volume")
		require.NoError(t, err)
		defer end()
		storetest.Exec(t, db.Pool, `UPDATE page_cache SET reading = reading - interval '1 hour'`)
		require.Eventually(t, func() bool {
			return storetest.Get[bool](t, db.Pool, `SELECT reading > now() - interval '5 seconds' AND deaths = 0
				FROM page_cache WHERE host=''`)
		}, 10*time.Second, 50*time.Millisecond)
	}
}
