package render

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheBoxIsShut looks around in the box as a browser would that was broken into.
func TestTheBoxIsShut(t *testing.T) {
	chromium(t)
	secret, err := filepath.Abs("render.go") // as any file of a user's
	require.NoError(t, err)
	p, err := start(t.Context(), bounds(), "/bin/sh", "-c", `exec >&4 4>&-
		echo user $(id -u); echo devices $(tail -n +3 /proc/net/dev | cut -d: -f1)
		echo addresses $(tail -n +2 /proc/net/route); echo processes $(ls -d /proc/[0-9]* | wc -l)
		echo files $(ls -A /) \
			$(ls -A /etc | grep -vE "^(alternatives|chromium|chromium.d|fonts|ld.so.cache|ssl)$") \
			$(cat `+secret+` /etc/passwd 2>/dev/null)
		echo written $(touch /usr/a /etc/a /a /dev/a 2>/dev/null; ls /usr/a /etc/a /a /dev/a 2>/dev/null)
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
		"devices lo\n", "addresses\n", "written\n", "rights CapEff: 0000000000000000\n", "more NoNewPrivs: 1\n",
		"room none\n", "variables HOME LANG OLDPWD PATH PWD TMPDIR\n", "memory 1536000 processor 20 cores 0\n",
	} {
		require.Contains(t, text, has)
	}
	require.Regexp(t, `(?m)^files (bin|dev|etc|lib|lib32|lib64|libx32|proc|sbin|tmp|usr| )+$`, text)
	require.NotContains(t, text, "user 0\n")
	require.NotContains(t, text, "mounted")
	require.Regexp(t, "processes [1-9]\n", text, "others are not to be seen")
	require.False(t, strings.Contains(text, "GLEANER"))
	cpu, _ := p.used()
	require.Less(t, cpu, time.Second)
}

// TestNoProcessLeavesTheBox: one that begins a session of its own, and whose parent has ended,
// counts as the others and ends with them.
func TestNoProcessLeavesTheBox(t *testing.T) {
	chromium(t)
	p, err := start(t.Context(), bounds(), "/bin/sh", "-c", `exec >&4 4>&-
		(setsid sh -c 'while :; do :; done' leaver &) ; echo begun; exec sleep 60`)
	require.NoError(t, err)
	_, err = io.ReadFull(p.out, make([]byte, 5))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		cpu, memory := p.used()
		return cpu > time.Second/2 && memory > 0
	}, 20*time.Second, 100*time.Millisecond)
	p.end()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, f := range files {
		command, _ := os.ReadFile(f)
		require.NotContains(t, string(command), "\x00leaver\x00")
	}
}

// TestABrowserIsTriedAgain: one that could not be shut in may be a while later.
func TestABrowserIsTriedAgain(t *testing.T) {
	b := chromium(t)
	path := b.path
	b.path, b.tried = "/bin/false", errUntried
	require.Error(t, b.Check())
	b.path = path
	require.Error(t, b.Check(), "not at once")
	b.again = time.Now().Add(-time.Second)
	require.NoError(t, b.Check())
	b.path = "/bin/false"
	require.NoError(t, b.Check(), "what went well stays")
	_, err := folder(os.Args[0]) // among a user's files
	require.Error(t, err)
}
