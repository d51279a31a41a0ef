package report

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

// TestRecallInThreeForms counts a venue of which the library holds a part: of the held
// papers, too, some have a document on the sites, others have one elsewhere alone.
func TestRecallInThreeForms(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := storetest.Open(t, 0)
	titles := []string{"Engines", "Looms", "Tides", "Comets", "Bridges", "Canals", "Clocks", "Lenses"}
	var papers []gleaner.Paper
	for i, word := range titles {
		papers = append(papers, gleaner.Paper{Key: fmt.Sprint("conf/x/", i), Venue: "conf/x", Year: 1998 + i/5,
			Title: "On the Analytical Theory of " + word + " and Their Makers", Authors: []gleaner.Author{{PID: fmt.Sprint("a/", i), Name: "Ada " + word}}})
	}
	require.NoError(t, db.SavePapers(ctx, papers, nil))
	id := "conf/x/1998-1999"
	require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: id, Venue: "conf/x", Years: gleaner.Years{From: 1998, To: 1999}, Options: []byte("{}")}))
	held := map[string]string{papers[0].Key: "exact", papers[1].Key: "exact", papers[2].Key: "exact", papers[5].Key: "exact"}
	require.NoError(t, db.SetHarvestPapers(ctx, id, papers, held))
	exec := func(sql string, args ...any) { storetest.Exec(t, db.Pool, sql, args...) }
	exec(`INSERT INTO sites (host) VALUES ('ada.example'), ('other.example')`)
	exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'homepage' FROM sites WHERE host='ada.example'`, id)
	document := func(i int, host, sha string, found bool) {
		text := papers[i].Title + "\n" + papers[i].Authors[0].Name + "\nAbstract\nWe study them." + strings.Repeat(" It is known that they turn.", 40)
		exec(`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, outcome, first_pages) VALUES ($1, '', '', 1, 'pdf', 'accepted', 'ok', $2)`, sha, text)
		exec(`INSERT INTO locations (hash, sha256, site_id, url) SELECT $1, $2, id, $3 FROM sites WHERE host=$4`, []byte(sha), sha, "http://"+host+"/"+sha+".pdf", host)
		if found {
			exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ($1, $2, 'exact', 1)`, papers[i].Key, sha)
		}
	}
	document(0, "ada.example", "held", false)
	document(0, "ada.example", "held-again", false) // a copy is no other paper
	document(1, "other.example", "elsewhere", false)
	document(3, "ada.example", "wanted", true)
	document(5, "ada.example", "held-later", false)
	document(6, "ada.example", "wanted-later", true)

	r, err := Build(ctx, db, id)
	require.NoError(t, err)
	require.Equal(t, []Year{
		{1998, Summary{Published: 5, Held: 3, Wanted: 2, Found: 1, Missing: 1, HeldMet: 1, Recall: 1. / 2, Target: 2. / 5, Covered: 4. / 5}},
		{1999, Summary{Published: 3, Held: 1, Wanted: 2, Found: 1, Missing: 1, HeldMet: 1, Recall: 1. / 2, Target: 2. / 3, Covered: 2. / 3}},
	}, r.Years)
	require.Equal(t, Summary{Published: 8, Held: 4, Wanted: 4, Found: 2, Missing: 2, HeldMet: 2, Recall: 2. / 4, Target: 4. / 8, Covered: 6. / 8}, r.Summary)
	require.Nil(t, r.Ended, "it runs")
	require.Regexp(t, `">3</text>.*">6</text>`, papersChart(r.Years), "a line stands at its number")

	// A harvest of one of its years, which met other sites, counts that year as this one does.
	one := "conf/x/1999"
	year := gleaner.Years{From: 1999, To: 1999}
	require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: one, Venue: "conf/x", Years: year, Options: []byte("{}")}))
	require.NoError(t, db.SetHarvestPapers(ctx, one, papers[5:], held))
	ofOne, err := Build(ctx, db, one)
	require.NoError(t, err)
	require.Equal(t, r.Years[1:], ofOne.Years)

	require.Equal(t, []int{4, 0}, []int{r.Authors, r.Sought})

	exec(`INSERT INTO homepage_decisions (author_id, decision) SELECT id, '{}' FROM authors WHERE pid='a/4'`)

	// It ends, and then another harvest finds one of its papers, and more files.
	require.NoError(t, db.SetStage(ctx, id, gleaner.StageComplete, ""))
	document(4, "ada.example", "found-by-another", true)
	later, err := Build(ctx, db, id)
	require.NoError(t, err)
	require.Equal(t, []int{3, 1}, []int{later.Summary.Found, later.Summary.Missing}, "of now")
	require.Equal(t, []int{2, 2}, []int{later.Ended.Found, later.Ended.Missing}, "of then")
	require.Equal(t, []int{4, 1}, []int{later.Authors, later.Sought})
	require.Equal(t, r.Files, later.Ended.Files)
	require.Equal(t, later.Files, later.Ended.Files)
	require.Positive(t, r.Files.Documents)
}
