package text

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCount(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{"0 papers": Count(0, "paper"), "1 paper": Count(1, "paper"), "2 tries": Count(2, "try"), "1 try": Count(1, "try"),
		"2 matches": Count(2, "match"), "3 days": Count(int64(3), "day"), "1 match is": CountIs(1, "match")} {
		require.Equal(t, want, got)
	}
}
