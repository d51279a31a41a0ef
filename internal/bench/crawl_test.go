package bench

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

// TestCrawl: both crawlers ask for every page, once.
func TestCrawl(t *testing.T) {
	t.Parallel()
	web, err := NewWeb(4, 400)
	require.NoError(t, err)
	t.Cleanup(web.Close)
	r, err := Crawl(t.Context(), web, Options{Pages: 400, Hosts: 4, Rounds: 1, DatabaseURL: devtest.Postgres(t)})
	require.NoError(t, err)
	require.Equal(t, 800, web.Served(), "%+v", r)
	require.Equal(t, 400, r.Gleaner.Pages)
	require.Equal(t, 400, r.Gleaner.Requests)
	require.Equal(t, 400, r.Colly.Pages)
	require.Equal(t, r.Colly.Bytes, r.Gleaner.Bytes)
	require.InDelta(t, 9000, r.Colly.Bytes/400, 1000)
	require.Positive(t, r.Ratio)
	require.Greater(t, r.Database.Rows, 1.5, "each page is inserted and updated")
	t.Logf("%+v", r)
}

func TestFrontier(t *testing.T) {
	t.Parallel()
	var got []Size
	require.NoError(t, Frontier(t.Context(), devtest.Postgres(t), []int{2000, 1000}, func(s Size) { got = append(got, s) }))
	require.Len(t, got, 2)
	for i, s := range got {
		require.Equal(t, 1000*(i+1), s.Rows)
		require.Positive(t, s.Next)
		require.Positive(t, s.SliceRate)
		require.Positive(t, s.Disk)
	}
}
