package store_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
)

// TestForeignTextInJSON: no page, file or service can stop the record by what it
// says.
func TestForeignTextInJSON(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	for in, want := range map[string]string{
		`"a\u0000b"`:              "a\uFFFDb",
		`"a\\u0000b"`:             `a\u0000b`, // a backslash, and no escape after it
		`"a\\\u0000b"`:            "a\\\uFFFDb",
		`"\ud83d\ude00"`:          "😀",
		`"\ud83d"`:                "\uFFFD",
		`"\ude00\ud83d"`:          "\uFFFD\uFFFD",
		"\"\xff\"":                "\uFFFD",
		`"\n\"\u00e9"`:            "\n\"é",
		`"plain"`:                 "plain",
		`"\u0000\u0000\\\\u0000"`: "\uFFFD\uFFFD\\\\u0000",
	} {
		var out string
		require.NoError(t, db.Pool.QueryRow(t.Context(), `SELECT ($1::jsonb) #>> '{}'`, json.RawMessage(in)).Scan(&out), in)
		require.Equal(t, want, out, in)
	}

	ctx := t.Context()
	paper := gleaner.Paper{Key: "p", Venue: "v", Year: 2003, Title: "A Paper", Authors: []gleaner.Author{{PID: "a/1", Name: "Ada"}}}
	require.NoError(t, db.SavePapers(ctx, []gleaner.Paper{paper}, map[string]string{"source": "a\x00b"}))
	twins := gleaner.Paper{Key: "twins", Title: "Two ids that are one", Authors: []gleaner.Author{{PID: "a\x00", Name: "A"}, {PID: "a\uFFFD", Name: "B"}}}
	require.NoError(t, db.SavePapers(ctx, []gleaner.Paper{twins}, nil))
	require.NoError(t, db.SaveDecision(ctx, evidence.Decision{Author: paper.Authors[0], Candidates: []evidence.Candidate{{Title: "a picture \x00 of Ada"}}}, nil))
	storetest.Exec(t, db.Pool, `INSERT INTO sites (host, learnt) VALUES ('a.example', $1)`, json.RawMessage(`{"tag\u0000path": 1}`))
}
