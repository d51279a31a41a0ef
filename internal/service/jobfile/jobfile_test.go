package jobfile

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
)

// jobs are one of each kind, with every option that there is.
func jobs(t *testing.T) map[string]any {
	all := map[string]any{store.JobImport: ingest.Options{Paths: []string{"/data/a b: c.warc", "s3://crawls/2005/?region=eu-west-1"}, Format: ingest.Folder, URLs: "https://www.example.edu/tr/{path}",
		Parent: "https://www.example.edu/tr/", Date: "2005-06-30", Unfiltered: true, Unrecorded: true, Types: []string{"pdf", "postscript"}, To: "/data/copies", Blacklist: []string{"bad.example", "no"}}}
	values := map[string]string{"only": "blacklisted", "with-ingested": "yes", "with-matched": "yes", "domains": "7", "least": "2", "uncited": "yes", "ask": "yes", "ingested": "yes", "state": "accepted,rejected", "class": "paper", "kind": "pdf", "outcome": "ok",
		"ingestion": "failed", "host": "a.example", "venue": "conf/x", "year": "1998-2004", "from": "2026-01-01", "to": "2026-03-31", "text": "on: \"words\" # such\nas these", "primary": "yes", "sample": "1000", "seed": "007", "limit": "9"}
	for _, kind := range tables.Kinds() {
		o := tables.Defaults(kind)
		for _, name := range names(kind) {
			if name == outName {
				o.To = "s3://copies"
				continue
			}
			if name == citing {
				continue
			}
			require.NoError(t, o.Set(kind, name, values[name]), name)
			require.NotEmpty(t, o.Get(name), name)
		}
		if kind == store.JobWhitelist {
			o.Source = tables.SemanticScholar
		}
		all[kind] = o
	}
	return all
}

// TestRoundTrip: a job that is written as a file and read again has the options that it
// had, of whatever kind it is.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	all := jobs(t)
	require.Len(t, all, len(Kinds()))
	all["bare import"] = ingest.Options{Paths: []string{"a.warc"}}
	for kind, want := range all {
		raw, err := json.Marshal(want)
		require.NoError(t, err)
		if kind == "bare import" {
			kind = store.JobImport
		}
		file, err := Write(store.Job{Kind: kind, Options: raw})
		require.NoError(t, err)
		got, options, err := Read(bytes.NewReader(file))
		require.NoError(t, err, "%s", file)
		require.Equal(t, kind, got)
		again, err := json.Marshal(options)
		require.NoError(t, err)
		require.JSONEq(t, string(raw), string(again), "%s", file)
	}
}

// TestWordsForNothingAreWords: what stands for nothing in YAML is text all the same, so that
// no condition is lost.
func TestWordsForNothingAreWords(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"null", "NULL", "~", "on", "007", "-", "<<", "*a", "!!str", "--- x", "é"} {
		raw, err := json.Marshal(tables.Options{Documents: store.DocumentQuery{Text: word}})
		require.NoError(t, err)
		file, err := Write(store.Job{Kind: store.JobRetrieve, Options: raw})
		require.NoError(t, err)
		_, options, err := Read(bytes.NewReader(file))
		require.NoError(t, err, "%s", file)
		require.Equal(t, word, options.Table.Documents.Text, "%s", file)
	}
}

// TestConfirmIsInNoFile: that a cleaning removes what it lists is said for one run alone.
func TestConfirmIsInNoFile(t *testing.T) {
	t.Parallel()
	file, err := Write(store.Job{Kind: store.JobCleanDocuments, Options: []byte(`{"in_place": true, "only": "failed"}`)})
	require.NoError(t, err)
	require.Equal(t, "job: clean-documents\nonly: failed\n", string(file))
}

// TestWrongFiles: what is wrong with a file is said.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"":                                       "EOF",
		"job: burn":                              `job is one of import, `,
		"paths: [a]":                             `not ""`,
		"job: import":                            "nothing is named",
		"job: import\npaths: [[a]]":              "line 2: want a list of texts",
		"job: import\npaths: a\nformat: tar":     "--format is one of",
		"job: import\npaths: a\nfilter: maybe":   "filter is on or off",
		"job: import\npaths: a\nsample: 3":       `has no option "sample"; it has paths`,
		"job: retrieve\nsample: [1, 2]":          "sample: want one text",
		"job: retrieve\nsample: few":             "sample",
		"job: whitelist\nsource: me":             "source is semanticscholar",
		"job: clean-documents\nconfirm: yes":     `has no option "confirm"`,
		"job: {a: b}":                            "line 1: want a text",
		"job: clean-parents\n---\njob: retrieve": "one job",
		"job: import\npaths: " + strings.Repeat("a", maxFile): "more than",
	} {
		_, _, err := Read(strings.NewReader(file))
		require.ErrorIs(t, err, ErrInput, "%.60s", file)
		require.ErrorContains(t, err, want, "%.60s", file)
	}
}
