package bench

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

// TestCrawl: both crawlers ask for every page; Gleaner once. Colly looks at what was
// visited and notes it in two steps, between which another may come: the busier the machine
// the more pages it asks for twice, which nothing bounds.
func TestCrawl(t *testing.T) {
	t.Parallel()
	web, err := NewWeb(4, 400, 0)
	require.NoError(t, err)
	t.Cleanup(web.Close)
	r, err := Crawl(t.Context(), web, Options{Pages: 400, Hosts: 4, Rounds: 1, DatabaseURL: devtest.Postgres(t)})
	require.NoError(t, err)
	require.Equal(t, 400+r.Colly.Requests, web.Served(), "%+v", r)
	require.Equal(t, 400, r.Gleaner.Pages)
	require.Equal(t, 400, r.Gleaner.Requests)
	require.Equal(t, 400, r.Colly.Pages)
	require.GreaterOrEqual(t, r.Colly.Requests, 400)
	require.InDelta(t, 9000, r.Gleaner.Bytes/400, 1000)
	require.InDelta(t, 9000, int(r.Colly.Bytes)/r.Colly.Requests, 1000)
	require.Positive(t, r.Ratio)
	require.Greater(t, r.Database.Rows, 1.5, "each page is inserted and updated")
	t.Logf("%+v", r)
}

// TestCrawlWithFiles: each link to a file is a row more, and nothing else is asked.
func TestCrawlWithFiles(t *testing.T) {
	t.Parallel()
	web, err := NewWeb(2, 200, 0)
	require.NoError(t, err)
	t.Cleanup(web.Close)
	files, err := NewWeb(2, 200, 5)
	require.NoError(t, err)
	t.Cleanup(files.Close)
	r, err := Crawl(t.Context(), web, Options{Pages: 200, Hosts: 2, Rounds: 1, DatabaseURL: devtest.Postgres(t), WithFiles: files})
	require.NoError(t, err)
	require.Equal(t, 200, files.Served())
	require.Equal(t, 200, r.WithFiles.Requests)
	require.Greater(t, r.WithFiles.Database.Rows, 6., "a page is inserted and updated, and has five links")
	require.Positive(t, r.WithFiles.Ratio)
	require.Positive(t, r.WithFiles.CPURatio)
}

func TestFrontier(t *testing.T) {
	t.Parallel()
	for perHost, hosts := range map[int][2]int{0: {1, 1}, 500: {2, 4}} {
		var got []Size
		o := FrontierOptions{DatabaseURL: devtest.Postgres(t), Sizes: []int{2000, 1000}, PerHost: perHost}
		require.NoError(t, Frontier(t.Context(), o, func(s Size) { got = append(got, s) }))
		require.Len(t, got, 2)
		for i, s := range got {
			require.Equal(t, 1000*(i+1), s.Rows)
			require.Equal(t, hosts[i], s.Hosts)
			for _, c := range []Cost{s.Claim, s.Visit, s.Enqueue} {
				require.Positive(t, c.Least)
				require.GreaterOrEqual(t, c.Median, c.Least)
			}
			require.Greater(t, s.Pages, 1., "each row lies on a page")
			require.Less(t, s.Pages, 20.)
			require.Positive(t, s.SliceRate)
			require.Positive(t, s.Disk)
		}
	}
}
