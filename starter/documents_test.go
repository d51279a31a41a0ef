package main

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/service/program"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	good := conditions{years: "1998-2004", from: "2026-01-31", to: "2026-01-31"}
	q, err := good.query()
	require.NoError(t, err)
	require.Equal(t, 1998, q.Years.From)
	require.Equal(t, 24.0, q.To.Sub(q.From).Hours(), "the last day counts whole")
	for name, bad := range map[string]conditions{
		"day":  {from: "31.1.2026"},
		"year": {years: "last"},
	} {
		_, err := bad.query()
		require.ErrorIs(t, err, program.ErrUsage, name)
	}
	bad := conditions{}
	bad.States = []string{"lost"}
	_, err = bad.query()
	require.ErrorIs(t, err, program.ErrUsage)
	bad = conditions{}
	bad.Sample = -1
	_, err = bad.query()
	require.ErrorIs(t, err, program.ErrUsage)
}

func TestAskWord(t *testing.T) {
	t.Parallel()
	lines := bufio.NewScanner(strings.NewReader("perhaps\nY\nno\n\nq\n"))
	for _, want := range []string{"yes", "no", "skip"} {
		word, end := askWord(lines, io.Discard)
		require.False(t, end)
		require.Equal(t, want, word)
	}
	_, end := askWord(lines, io.Discard)
	require.True(t, end)
	_, end = askWord(lines, io.Discard)
	require.True(t, end, "the end of the input is one")
}
