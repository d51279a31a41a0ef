package text

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCount(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{"0 papers": Count(0, "paper"), "1 paper": Count(1, "paper"), "2 tries": Count(2, "try"), "1 try": Count(1, "try")} {
		require.Equal(t, want, got)
	}
}
