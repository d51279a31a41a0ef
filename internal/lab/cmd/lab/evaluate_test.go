package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/document"
	"gleaner/internal/lab/evaluate"
)

// TestEvaluateCollect compares policies of crawls by topic, also without each of their
// parts.
func TestEvaluateCollect(t *testing.T) {
	t.Parallel()
	run := func(args ...string) string {
		var out, errs strings.Builder
		c := newRootCommand(&out, &errs, document.Child{})
		c.Root.SetArgs(args)
		require.NoError(t, c.Root.ExecuteContext(t.Context()), errs.String())
		return out.String()
	}
	var got struct {
		Webs    []evaluate.TopicWeb     `json:"webs"`
		Summary []evaluate.TopicSummary `json:"summary"`
	}
	raw := run("evaluate", "collect", "--wide", "--hosts", "60", "--topics", "2", "--gaps", "1", "--pages", "400", "--parts", "cindi", "--json")
	require.NoError(t, json.Unmarshal([]byte(raw), &got))
	require.Len(t, got.Webs, 1)
	names := map[string]bool{}
	for _, s := range got.Summary {
		names[s.Policy] = true
		if s.Policy != evaluate.SearchAlone {
			require.NotNil(t, s.Of, "%s: documents were met, and some accepted", s.Policy)
			require.Less(t, *s.Of, 1.0)
		}
	}
	for _, part := range []string{"anchors", "classifiers", "departments", "directories", "learnt anchors", "levels", "tunnelling", "URL patterns", "words of links"} {
		require.True(t, names["cindi, no "+part], part)
	}
	require.True(t, names["cindi, all"] && names["cindi, none"] && names["bfs"] && names["gleaner"])
}
