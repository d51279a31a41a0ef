package bench

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/devtest/temporaltest"
	"gleaner/internal/each"
)

// TestScale: two worker programs crawl all hosts, each at its pace.
func TestScale(t *testing.T) {
	t.Parallel()
	web, err := NewWeb(3, 12, 0)
	require.NoError(t, err)
	t.Cleanup(web.Close)
	o := ScaleOptions{
		Web:     web,
		Visits:  func() ([]*Visits, error) { web.Close(); return web.Visits(), nil },
		Workers: 2,
		Dir:     t.TempDir(),
		Pace:    100 * time.Millisecond,
		Servers: Servers{DatabaseURL: devtest.Postgres(t), Worker: filepath.Join(devtest.Programs(t), "worker")},
	}
	o.Temporal, o.Namespace = temporaltest.Temporal(t)
	s, err := RunScale(t.Context(), o)
	require.NoError(t, err)
	t.Logf("%+v", s)
	require.Equal(t, 3, s.Hosts)
	require.Equal(t, []int{4, 4, 4}, each.Of(web.Visits(), func(v *Visits) int { return v.Pages }))
	require.GreaterOrEqual(t, s.URLs, 12)
	require.GreaterOrEqual(t, s.Requests, 12)
	require.Zero(t, s.Impolite)
	require.Positive(t, s.PaceSlowest)
	require.LessOrEqual(t, s.PaceSlowest, s.PaceMedian)
	for _, figure := range []float64{s.Seconds, s.EventsPer1000, float64(s.Connections), s.RecordBytesPerURL} {
		require.Positive(t, figure, "%+v", s)
	}
}

// TestScaleCountsWhatIsImpolite: a request before its time, and one beside another.
func TestScaleCountsWhatIsImpolite(t *testing.T) {
	t.Parallel()
	began := time.Now()
	r := scaleRun{ScaleOptions: ScaleOptions{Pace: time.Second}}
	r.count([]*Visits{
		{Requests: 11, Last: began.Add(20 * time.Second), Gaps: []float64{1, .9, 3}},
		{Requests: 21, Last: began.Add(20 * time.Second), Gaps: []float64{1}, Overlapping: 1},
		{},
	}, began)
	require.Equal(t, Scale{Requests: 32, PaceMedian: 11. / 21, Impolite: 2, LongestGap: 3}, r.Scale)
}

// TestCrawlByWorkflows: the same pages are crawled with and without workflows.
func TestCrawlByWorkflows(t *testing.T) {
	t.Parallel()
	o := Options{
		Pages: 12, Hosts: 2, Rounds: 1, Delays: []time.Duration{0}, Timeout: time.Minute,
		Names:   []string{"gleaner", "temporal"},
		Servers: Servers{DatabaseURL: devtest.Postgres(t), Worker: filepath.Join(devtest.Programs(t), "worker")},
	}
	o.Temporal, o.Namespace = temporaltest.Temporal(t)
	o.StartWeb = func() (*Web, func() ([]*Visits, error), error) {
		web, err := NewWeb(o.Hosts, o.Pages, 0)
		return web, func() ([]*Visits, error) { web.Close(); return web.Visits(), nil }, err
	}
	var runs []Run
	require.NoError(t, Crawl(t.Context(), o, func(r Run) { runs = append(runs, r) }))
	require.Len(t, runs, 2)
	for _, r := range runs {
		require.Equal(t, 12, r.Pages, "%+v", r)
		require.Positive(t, r.CPU)
	}
}
