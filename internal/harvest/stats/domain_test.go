package stats

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
)

// TestAPaperOnTwoHostsOfADomainCountsOnce in its citations.
func TestAPaperOnTwoHostsOfADomainCountsOnce(t *testing.T) {
	t.Parallel()
	yields := []store.HostYield{{Host: "www.example.edu", Documents: 2, DOIs: []string{"10.1/a", "10.1/b"}}, {Host: "cs.example.edu", Documents: 1, DOIs: []string{"10.1/a"}}}
	documents, citations := perDomain(yields, map[string]int64{"10.1/a": 5, "10.1/b": 2})
	require.Equal(t, map[string]int{"example.edu": 3}, documents)
	require.Equal(t, map[string]int64{"example.edu": 7}, citations)
}
