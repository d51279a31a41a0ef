package synthesis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/fetch"
	"gleaner/internal/record/collections"
)

// TestADeadURLIsTriedSoOften as the settings say, and no more.
func TestADeadURLIsTriedSoOften(t *testing.T) {
	t.Parallel()
	l := &loop{cfg: Defaults()}
	for tries := range Defaults().MaxTries {
		v := &collections.Visit{URL: &collections.URL{URL: "http://dead.example/", Tries: tries}, At: time.Now()}
		l.failed(v, &fetch.Error{Outcome: fetch.ServerError, URL: v.URL.URL})
		require.Equal(t, tries+1 < Defaults().MaxTries, !v.Again.IsZero(), "after %d tries", tries+1)
	}
}
