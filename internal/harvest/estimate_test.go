package harvest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheLargestSiteTakesLongest of all new ones, since each is asked at its pace.
func TestTheLargestSiteTakesLongest(t *testing.T) {
	t.Parallel()
	least, most := lasts(Estimate{NewSites: 13, Crawling: 390}, Pace{Delay: time.Second, Sites: 13}, 30, 240)
	require.Equal(t, []float64{30, 240}, []float64{least, most})
}
