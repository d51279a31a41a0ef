package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"gleaner/internal/service/console"
)

// TestADelayBelowTheFloorIsNamed: who asks for less than the least delay is told
// that he will not have it, and by which setting.
func TestADelayBelowTheFloorIsNamed(t *testing.T) {
	for asked, named := range map[time.Duration]bool{0: false, time.Millisecond: true, 299 * time.Millisecond: true, 300 * time.Millisecond: false, time.Minute: false} {
		var said strings.Builder
		c := &cli{err: console.New(&said), file: os.DevNull, flags: pflag.NewFlagSet("", pflag.ContinueOnError), own: map[string]string{"min-delay": "300ms"}}
		c.hintDelay(asked)
		require.Equal(t, named, strings.Contains(said.String(), "every 300ms"), "%s: %s", asked, said.String())
		require.Equal(t, named, strings.Contains(said.String(), "GLEANER_MIN_DELAY"), asked)
	}
}
