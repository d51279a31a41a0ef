package render

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheBoxIsShut looks around in the box as a browser would that was broken into.
func TestTheBoxIsShut(t *testing.T) {
	chromium(t)
	p, err := start(t.Context(), bounds(), "/bin/sh", "-c", `exec >&4 4>&-
		echo user $(id -u); echo devices $(tail -n +3 /proc/net/dev | cut -d: -f1)
		echo addresses $(tail -n +2 /proc/net/route); echo processes $(ls -d /proc/[0-9]* | wc -l)
		echo files $(ls /home /root /run /var /srv 2>/dev/null | grep -v :)
		echo rights $(grep CapEff /proc/self/status)
		echo more $(grep NoNewPrivs /proc/self/status); echo variables $(env | cut -d= -f1 | sort)
		echo room $(head -c 200000000 /dev/zero >/tmp/a 2>/dev/null || echo none)
		echo memory $(ulimit -d) processor $(ulimit -t) cores $(ulimit -c)
		mount -t tmpfs none /tmp 2>/dev/null && echo mounted`)
	require.NoError(t, err)
	said, err := io.ReadAll(p.out)
	require.NoError(t, err)
	p.end()
	text := string(said)
	for _, has := range []string{
		"devices lo\n", "addresses\n", "files\n", "rights CapEff: 0000000000000000\n", "more NoNewPrivs: 1\n",
		"room none\n", "variables HOME LANG OLDPWD PATH PWD TMPDIR\n", "memory 1536000 processor 20 cores 0\n",
	} {
		require.Contains(t, text, has)
	}
	require.NotContains(t, text, "user 0\n")
	require.NotContains(t, text, "mounted")
	require.Regexp(t, "processes [1-9]\n", text, "others are not to be seen")
	require.False(t, strings.Contains(text, "GLEANER"))
	cpu, _ := p.used()
	require.Less(t, cpu, time.Second)
}
