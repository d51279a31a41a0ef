package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

// TestAuthorsOfMostPapersAreSoughtFirst, each once in whatever ranges the list is cut,
// also where papers are found meanwhile; ranges by ids, as releases before began them,
// are gone through to their end.
func TestAuthorsOfMostPapersAreSoughtFirst(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := open(t)
	const harvest = "conf/x/all"
	var papers []gleaner.Paper
	for i, by := range []string{"c", "ca", "cb", "b", "bd", "ad"} { // c 3, b 3, a 2, d 2
		p := gleaner.Paper{Key: fmt.Sprint("conf/x/", i), Venue: "conf/x", Year: 2001, Title: fmt.Sprint("Paper ", i)}
		for _, pid := range by {
			p.Authors = append(p.Authors, gleaner.Author{PID: string(pid), Name: string(pid)})
		}
		papers = append(papers, p)
	}
	require.NoError(t, db.SavePapers(ctx, papers, nil))
	require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: harvest, Venue: "conf/x", Options: []byte("{}"), Stage: "homepages"}))
	require.NoError(t, db.SetHarvestPapers(ctx, harvest, papers, nil))
	sought := func(in store.AuthorRange) (ids []string, last string) {
		all, err := db.AuthorsToFind(ctx, harvest, in, time.Now(), false)
		require.NoError(t, err)
		for _, a := range all {
			ids, last = append(ids, a.ID()), a.Place
		}
		return ids, last
	}
	all, end := sought(store.AuthorRange{})
	require.Equal(t, []string{"b", "c", "a", "d"}, all)
	first, at := sought(store.AuthorRange{Limit: 2})
	require.Equal(t, []string{"b", "c"}, first)

	began, err := db.Now(ctx)
	require.NoError(t, err)
	storetest.Exec(t, db.Pool, `INSERT INTO documents (sha256, sha1, md5, bytes, kind) VALUES ('s', 's', 's', 1, 'pdf')`)
	storetest.Exec(t, db.Pool, `INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('conf/x/5', 's', 'exact', 1)`)
	rest, _ := sought(store.AuthorRange{After: at, UpTo: end})
	require.Equal(t, []string{"a", "d"}, rest, "each has a paper less to find, and nobody moves")
	storetest.Exec(t, db.Pool, `INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('conf/x/4', 's', 'exact', 1)`)
	rest, _ = sought(store.AuthorRange{After: at})
	require.Equal(t, []string{"a"}, rest)
	rest, _ = sought(store.AuthorRange{After: at, AsOf: began})
	require.Equal(t, []string{"a", "d"}, rest, "what is found since spares nobody a search")
}
