package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBudgetOfEachEngine: several search engines have a budget each.
func TestBudgetOfEachEngine(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.args = append(c.args, "--contact", "test@example.org", "--search", "searxng,brave", "--searxng-url", "http://searx.example", "--brave-key-file", secretFile(t, "key"), "--search-budget", "7")
	var b searchBudget
	c.read(&b, "stats", "searches")
	require.Equal(t, []string{"searxng", "brave"}, []string{b.Provider, b.Others[0].Provider})
	require.Equal(t, 7, b.Others[0].Limit)
	require.Contains(t, c.ok("stats", "searches"), "brave: 0 of 7")
}
