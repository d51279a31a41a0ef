package main

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	query := func(args ...string) (store.DocumentQuery, error) {
		q, cmd := &conditions{}, &cobra.Command{}
		q.register(cmd)
		require.NoError(t, cmd.ParseFlags(args))
		return q.query()
	}
	q, err := query("--years", "1998-2004", "--from", "2026-01-31", "--to", "2026-01-31", "--state", "new,failed", "--state", "accepted", "--primary", "--sample", "7")
	require.NoError(t, err)
	require.Equal(t, 1998, q.Years.From)
	require.Equal(t, 24.0, q.To.Sub(q.From).Hours(), "the last day counts whole")
	require.Equal(t, []string{"new", "failed", "accepted"}, q.States)
	require.True(t, q.Primary)
	require.Equal(t, 7, q.Sample)
	for _, bad := range []string{"--from=31.1.2026", "--years=last", "--state=lost", "--class=book", "--kind=doc,pdf", "--outcome=well", "--ingestion=some", "--sample=-1", "--limit=-1"} {
		_, err := query(bad)
		require.ErrorIs(t, err, program.ErrUsage, bad)
	}
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
