package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/document"
)

// TestADelayBelowTheFloorIsNamed: who asks for less than the least delay is told
// that he will not have it, and by which setting.
func TestADelayBelowTheFloorIsNamed(t *testing.T) {
	for asked, named := range map[time.Duration]bool{0: false, time.Millisecond: true, 299 * time.Millisecond: true, 300 * time.Millisecond: false, time.Minute: false} {
		var said strings.Builder
		c := newRootCommand(io.Discard, &said, document.Child{})
		require.NoError(t, c.Root.PersistentFlags().Parse([]string{"--config", os.DevNull, "--min-delay", "300ms"}))
		c.hintDelay(asked)
		require.Equal(t, named, strings.Contains(said.String(), "every 300ms"), "%s: %s", asked, said.String())
		require.Equal(t, named, strings.Contains(said.String(), "GLEANER_MIN_DELAY"), asked)
	}
}
