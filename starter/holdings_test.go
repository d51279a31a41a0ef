package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// TestHoldingsCanBeSeenAndTakenBack: the same papers from two kinds of list count
// once, and stay held until both lists are forgotten.
func TestHoldingsCanBeSeenAndTakenBack(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	csv := c.file("library.csv", "title,year,author\n\"Crawling the Web, Politely\",2001,Jörg Müller\nAnother Paper,2002,Jane Doe\n")
	bib := c.file("library.bib", "@article{a, title={Crawling the {Web}, politely.}, year=2001, author={M{\\\"u}ller, J{\\\"o}rg}, doi={10.1/x}}\n@article{b, title={A Third Paper}, year=2003, author={Roe, R.}}\n")
	var done store.Imported
	c.read(&done, "holdings", "import", csv, "--dry-run")
	require.Equal(t, store.Imported{Papers: 2, New: 2}, done)
	require.Contains(t, c.ok("holdings", "list"), "nothing was imported")
	require.Contains(t, c.ok("holdings", "import", csv), "2 papers of "+csv+" held: 2 new, 0 known")
	require.Contains(t, c.ok("holdings", "import", csv), "held: 0 new, 2 known")
	require.Contains(t, c.ok("holdings", "import", bib), "2 papers of "+bib+" held: 1 new, 1 known")

	var lists []store.HeldSource
	c.read(&lists, "holdings", "list")
	require.Len(t, lists, 2)
	require.Equal(t, bib, lists[0].Source)
	require.Equal(t, 2, lists[0].Papers)
	require.Equal(t, 1, lists[0].Alone)
	held, err := c.Holdings(t.Context())
	require.NoError(t, err)
	require.Len(t, held, 3)

	require.Contains(t, c.ok("holdings", "forget", csv, "--dry-run"), "1 paper would no longer")
	require.Contains(t, c.ok("holdings", "forget", csv), "1 paper no longer held")
	held, err = c.Holdings(t.Context())
	require.NoError(t, err)
	require.Len(t, held, 2)
	require.Contains(t, c.wrong(program.ExitUnknown, "holdings", "forget", csv), "starter holdings list")
	require.NoError(t, os.WriteFile(bib, []byte("@article{b, title={A Third Paper}, year=2003, author={Roe, R.}}\n"), 0o600))
	done = store.Imported{}
	c.read(&done, "holdings", "import", bib, "--dry-run")
	require.Equal(t, store.Imported{Papers: 1, Known: 1, Gone: 1}, done)
	require.Contains(t, c.ok("holdings", "import", bib), "0 new, 1 known; 1 of before not any more")
	require.Contains(t, c.ok("holdings", "forget", bib), "1 paper")
}
