package bench

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

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
