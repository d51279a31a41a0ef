package synthesis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/each"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/topic"
)

// threeHundred is a search engine that knows so many results of whatever is asked, every second
// of them a document; it notes what was asked for.
func threeHundred(queries map[string]bool) searching {
	return func(query string, n int) (out []evidence.Result, err error) {
		queries[query] = true
		if query == "haiku verse" {
			return nil, refusal{fmt.Errorf("status 400")}
		}
		for i := range min(n, 300) {
			u := fmt.Sprintf("http://%s%d.example/", strings.ReplaceAll(query, " ", "-"), i)
			if i%2 == 1 {
				u += "paper.pdf"
			}
			out = append(out, evidence.Result{URL: u})
		}
		return out, nil
	}
}

// TestSeedsAreSearchedFor: the crawl begins at the first results of each search that the
// tree of topics and the file make, without documents; where it is not asked for, at those
// of the centroid alone. A search that is refused is left out.
func TestSeedsAreSearchedFor(t *testing.T) {
	t.Parallel()
	db := open(t)
	queries := map[string]bool{}
	seeds := func(n int) (hosts []string) {
		_, c, err := preparesBy(t, db, threeHundred(queries), func(a *Request) { a.SearchSeeds = n },
			topic.Topic{ID: "science/mathematics/primes", Query: "prime numbers", Queries: []string{"sieve"}}, topic.Topic{ID: "verse/haiku", Query: "haiku"})
		require.NoError(t, err)
		hosts = storetest.Column[string](t, db.Pool,
			`SELECT host FROM collection_urls WHERE collection=$1 AND priority < 1`, c.ID)
		return hosts
	}
	require.Empty(t, seeds(0))
	require.Len(t, queries, 2, "for the centroids")
	hosts := seeds(100)
	require.Equal(t, map[string]bool{"prime numbers": true, "sieve": true, "primes mathematics": true, "haiku": true, "haiku verse": true}, queries)
	of := func(prefix string) int {
		return each.Count(hosts, func(h string) bool { return strings.HasPrefix(h, prefix) })
	}
	const centroid = 7
	for prefix, want := range map[string]int{"prime-numbers": 100 - centroid, "sieve": 100, "primes-mathematics": 100, "haiku": 100 - centroid} {
		require.Equal(t, want, of(prefix), prefix)
	}
	require.False(t, slices.ContainsFunc(hosts, func(h string) bool { return strings.HasSuffix(h, ".pdf") }))

	ask := defaultAsk(t)
	ask.SearchSeeds = 201
	require.ErrorContains(t, ask.Check(), "search-seeds")
}

// TestTitlesOfAVenueAreQueries, also where enough of its papers are on record for a centroid.
func TestTitlesOfAVenueAreQueries(t *testing.T) {
	t.Parallel()
	db := open(t)
	queries := map[string]bool{}
	site := devtest.Must(store.EnsureSite(t.Context(), db.Pool, "ada.example"))(t)
	for i, title := range []string{"Query optimization for streams", "Query optimization over joins", "Streams", "Query joins", "Query optimization"} {
		storetest.Exec(t, db.Pool,
			`WITH p AS (INSERT INTO papers (key, venue, year, title) VALUES ($1::text, 'conf/webdb', 2001, $3)),
			d AS (INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, class, first_pages) VALUES ($1, $1, $1, 1, 'pdf', 'accepted', 'paper', 'A lattice is a ring field group prime in a lattice.')),
			l AS (INSERT INTO locations (hash, sha256, site_id, url, parent) VALUES (decode(md5($1), 'hex'), $1, $2, 'http://ada.example/' || $1 || '.pdf', 'http://ada.example/pubs'))
			INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ($1, $1, 'exact', 1)`, fmt.Sprint("k", i), site, title)
	}
	prepared, c, err := preparesBy(t, db, threeHundred(queries), func(a *Request) { a.SearchSeeds = 20 }, topic.Topic{ID: "databases", Venue: "conf/webdb"})
	require.NoError(t, err)
	require.Equal(t, 1, prepared.Centroids)
	results := devtest.Must(collections.In(db).Results(t.Context(), c.ID))(t)
	require.NotEmpty(t, results[0].Parent, "of papers on record")
	require.Equal(t, map[string]bool{"query optimization joins streams": true, "query optimization": true}, queries)
	require.Equal(t, 1+2*20, devtest.Must(collections.In(db).Counts(t.Context(), c.ID))(t).Waiting)
}

// TestSeedsOfOneIdentity: what a directory and a search list by several spellings is one URL,
// at which the crawl begins once.
func TestSeedsOfOneIdentity(t *testing.T) {
	t.Parallel()
	db := open(t)
	listed := []string{"HTTP://Twice.example", "https://twice.example/", "http://twice.example/index.html#top", "http://twice.example/other", "nothing"}
	_, c, err := prepares(t, db, func(a *Request) { a.Seeds = map[string][]string{"two": listed} }, topic.Topic{ID: "one", Query: "one"}, topic.Topic{ID: "two", Query: "two"})
	require.NoError(t, err)
	urls := storetest.Column[string](t, db.Pool,
		`SELECT url FROM collection_urls WHERE collection=$1 AND host='twice.example' ORDER BY seq`, c.ID)
	require.Equal(t, []string{"http://twice.example/", "http://twice.example/other"}, urls)
}
