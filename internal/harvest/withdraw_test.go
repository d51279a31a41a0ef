package harvest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/harvest/report"
	"gleaner/internal/record/store"
)

// TestAHomepageThatLedNowhere is taken back where the name alone spoke for it, and its
// author is looked for again, without it; one that a directory lists stays.
func TestAHomepageThatLedNowhere(t *testing.T) {
	t.Parallel()
	a := circle().open(t, "", nil)
	ctx := t.Context()
	id := listed(t, a)
	findAll(t, a, id, smallKey, 100)
	const namesakes = "http://people.example.org/~apoe/"
	require.Equal(t, namesakes, best(t, a, id)["1/2"])
	poe := gleaner.Author{PID: "1/2", Name: "Adalbert Poe"}
	e, err := a.Stages.Explain(ctx, poe)
	require.NoError(t, err)
	d := *e.Decision
	for _, c := range []*evidence.Candidate{&d.Homepages[0], find(d.Candidates, namesakes)} {
		c.Features = map[string]float64{"root": 1, "name_title": 1, "name_url": 1, "documents": 1}
	}
	require.NoError(t, a.DB.SaveDecision(ctx, d, []store.Homepage{{AuthorID: "1/2", URL: namesakes, Host: "people.example.org", Source: "venue"}}))
	for _, host := range []string{"people.example.org", roeHost} {
		site, err := store.EnsureSite(ctx, a.DB.Pool, host)
		require.NoError(t, err)
		_, err = a.DB.Pool.Exec(ctx, `WITH s AS (UPDATE sites SET state='done' WHERE id=$2) INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ($1, $2, 'homepage') ON CONFLICT DO NOTHING`, id, site)
		require.NoError(t, err)
	}
	r, err := report.Build(ctx, a.DB, id)
	require.NoError(t, err)
	require.Len(t, r.Barren, 2)
	for range 2 { // the second time as after a crash
		_, err = a.Stages.Withdraw(ctx, r.Barren)
		require.NoError(t, err)
	}
	assert.Empty(t, best(t, a, id)["1/2"])
	assert.Equal(t, "http://"+roeHost+"/~roe/", best(t, a, id)["1/1"], "a directory lists it")
	e, err = a.Stages.Explain(ctx, poe)
	require.NoError(t, err)
	assert.Contains(t, e.Decision.NotFound, evidence.Withdrawn)
	assert.WithinDuration(t, time.Now(), e.Decision.NextTry, time.Minute)

	findAll(t, a, id, smallKey, 100)
	assert.Empty(t, best(t, a, id)["1/2"])
	e, err = a.Stages.Explain(ctx, poe)
	require.NoError(t, err)
	assert.Contains(t, find(e.Decision.Candidates, namesakes).Rule, evidence.Withdrawn)
	assert.Zero(t, e.Decision.NextTry, "it was looked for again, once")
}

func find(all []evidence.Candidate, url string) *evidence.Candidate {
	for i := range all {
		if all[i].URL == url {
			return &all[i]
		}
	}
	return &evidence.Candidate{}
}
