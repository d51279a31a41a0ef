package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const run = `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: poppler's pdftotext is not installed\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
not a line of JSON
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`

func TestSkippedTestsAreCounted(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	skips, failed, err := count(strings.NewReader(run), &out)
	require.NoError(t, err)
	require.False(t, failed)
	require.Equal(t, []skipped{{"p.TestA", "poppler's pdftotext is not installed"}}, skips)
	require.True(t, report(&out, skips))
	require.Contains(t, out.String(), "not a line of JSON\nok  \tp\t0.1s\nskipped  p.TestA  poppler")
	require.Contains(t, out.String(), "1 tests skipped")
}

func TestASkipForAnotherReasonFails(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	skips, _, err := count(strings.NewReader(strings.ReplaceAll(run, "poppler's pdftotext is not installed", "flaky on Mondays")), &out)
	require.NoError(t, err)
	require.False(t, report(&out, skips))
	require.Contains(t, out.String(), "NOT ALLOWED: flaky on Mondays")
}

func TestAFailureIsShown(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	_, failed, err := count(strings.NewReader(`{"Action":"output","Package":"p","Test":"TestA","Output":"it broke\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
`), &out)
	require.NoError(t, err)
	require.True(t, failed)
	require.Contains(t, out.String(), "it broke")
}
