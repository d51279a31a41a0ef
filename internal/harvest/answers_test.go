package harvest_test

import (
	"context"
	"strings"
	"testing"

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
					end, err := answers.Begin(ctx, what)
					if strings.Contains(what, "exa2003") {
						end = func() {} // as far as the record knows this process did nothing any more
					}
					return end, err
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
