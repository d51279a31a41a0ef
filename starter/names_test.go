package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// TestNamesOfHarvests: every command takes a harvest's id, its venue, the last part of
// either and any case, and an id means the papers of its years alone.
func TestNamesOfHarvests(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	ctx := t.Context()
	var papers []gleaner.Paper
	for key, year := range map[string]int{"conf/exa/Roe03": 2003, "conf/exa/Roe04": 2004} {
		papers = append(papers, gleaner.Paper{Key: key, Venue: "conf/exa", Year: year, Title: "Sorting Examples of " + key})
	}
	require.NoError(t, c.SavePapers(ctx, papers, nil))
	c.accepted("ada.example", "roe.pdf")
	for _, p := range papers {
		verdict := map[int]string{2003: "exact", 2004: "ambiguous"}[p.Year]
		_, err := c.Pool.Exec(ctx, `INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ($1, 'ada.exampleroe.pdf', $2, 1)`, p.Key, verdict)
		require.NoError(t, err)
	}
	for _, years := range []string{"2003", "2004", "2003-2004"} {
		in, err := gleaner.ParseYears(years)
		require.NoError(t, err)
		h := store.Harvest{ID: "conf/exa/" + years, Venue: "conf/exa", Years: in, Options: []byte("{}"), Stage: "papers"}
		require.NoError(t, c.SaveHarvest(ctx, h))
		require.NoError(t, c.SetHarvestPapers(ctx, h.ID, papers, nil))
	}

	for _, name := range []string{"conf/exa", "conf/exa/2003", "conf/exa/2003-2004", "conf/exa/2003–2004", "EXA", "exa/2003", "Conf/Exa/2003"} {
		require.Equal(t, 1, strings.Count(c.ok("export", name), "\n"), name)
	}
	out := filepath.Join(t.TempDir(), "none.bib")
	for _, args := range [][]string{{"conf/exa/2004"}, {"EXA/2004"}, {"conf/exa", "--years", "2004"}} {
		require.Contains(t, c.wrong(program.ExitUnknown, append([]string{"export", "--out", out}, args...)...), "2004")
		_, err := os.Stat(out)
		require.ErrorIs(t, err, os.ErrNotExist, "an export of nothing writes nothing")
	}

	var listed []store.Listed
	c.read(&listed, "documents", "list", "--venue", "conf/exa/2003")
	require.Len(t, listed, 1)

	for _, name := range []string{"Exa/2003", "conf/exa/2003"} {
		var is struct{ Harvest store.Harvest }
		c.read(&is, "report", name)
		require.Equal(t, "conf/exa/2003", is.Harvest.ID)
	}
	report := c.ok("report", "conf/exa")
	for _, id := range []string{"conf/exa/2003", "conf/exa/2004", "conf/exa/2003-2004"} {
		require.Contains(t, report, id, "the report of a venue names its other harvests")
	}
	page := filepath.Join(t.TempDir(), "r.html")
	require.Contains(t, c.ok("report", "exa", "--html", page), page)
}
