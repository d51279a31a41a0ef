package frontier_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/memory"
	. "gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// TestMemoryIsLikeTheTable: whatever a crawl enters, takes and writes, the window
// over the frontier in memory is that over the table, and so is what writing tells.
func TestMemoryIsLikeTheTable(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	for seed := range uint64(12) {
		site := devtest.Must(store.EnsureSite(t.Context(), db.Pool, fmt.Sprintf("memory%d.test", seed)))(t)
		r, inMemory := rand.New(rand.NewPCG(seed, 1)), memory.NewFrontier()
		url := func() string { return fmt.Sprintf("http://a.example/%d.html", r.IntN(150)) }
		marks := 1 + r.IntN(12)
		entry := func() Entry {
			e := Entry{Role: Role(r.IntN(3)), Candidate: page.Candidate{Parent: url(), Depth: r.IntN(6), Queue: r.IntN(3), Mark: r.IntN(marks),
				Priority: float64(r.IntN(20)) / 7, Wanted: float64(r.IntN(3)) / 3, Link: page.Link{URL: url(), Source: page.SourceAnchor}}}
			if r.IntN(8) == 0 {
				e.Skip = []gleaner.Outcome{TooDeep, "calendar-trap"}[r.IntN(2)]
			}
			return e
		}
		for range 25 {
			var b Batch
			for range r.IntN(30) {
				b.AddLink(entry())
			}
			if r.IntN(2) == 0 {
				b.Aliases = []Entry{entry()}
				b.Aliases[0].Skip = ""
			}
			waiting := devtest.Must(Window(t.Context(), db.Pool, site, 20))(t)
			for i := range waiting {
				if r.IntN(4) == 0 {
					b.Visits = append(b.Visits, Visit{Entry: &waiting[i], State: State(1 + r.IntN(6)), Crawl: 1, At: time.Now()})
				}
			}
			require.NoError(t, Done(t.Context(), db.Pool, site, b.Visits))
			added := devtest.Must(Add(t.Context(), db.Pool, site, b.Links))(t)
			require.NoError(t, AddAliases(t.Context(), db.Pool, site, 1, b.Aliases))
			got := inMemory.Write(&b)
			require.Len(t, got.Added, len(added))
			for h, a := range added {
				require.Equal(t, a.New, got.Added[h].New)
				require.Equal(t, a.Waiting, got.Added[h].Waiting)
			}
			if r.IntN(5) == 0 {
				n := devtest.Must(Relax(t.Context(), db.Pool, site, 3))(t)
				relaxed, _, _ := inMemory.Left(t.Context(), 3)
				require.Equal(t, n, relaxed)
			}
			for _, limit := range []int{1, 7, 20, 500} {
				sameWindow(t, db, site, inMemory, limit)
			}
		}
	}
}

func sameWindow(t *testing.T, db *store.DB, site int, inMemory *memory.Frontier, limit int) {
	t.Helper()
	want := devtest.Must(Window(t.Context(), db.Pool, site, limit))(t)
	waiting := devtest.Must(Count(t.Context(), db.Pool, site, limit+1))(t)
	got, all, _ := inMemory.Window(t.Context(), limit)
	require.Equal(t, waiting <= len(want), all)
	show := func(es []Entry) (out []string) {
		for _, e := range es {
			out = append(out, fmt.Sprint(e.Link.URL, e.Queue, e.Mark, e.Priority, e.Depth, e.Role, e.Wanted, e.Parent, e.Document))
		}
		return out
	}
	require.Equal(t, show(want), show(got), "of %d", limit)
	for _, e := range want {
		known, _ := inMemory.LookUp(t.Context(), []Hash{e.Hash()})
		require.Equal(t, []Known{{Hash: e.Hash(), Depth: e.Depth, Role: e.Role}}, known)
	}
}

// TestALeadHasItsBestWords: of several links of pages to one file of another host, the one
// whose words are most like a wanted title stands.
func TestALeadHasItsBestWords(t *testing.T) {
	t.Parallel()
	var b Batch
	link := page.Link{URL: "http://b.test/p.pdf"}
	for _, wanted := range []float64{0, 0.9, 0.5} {
		b.AddLead("b.test", Entry{Candidate: page.Candidate{Wanted: wanted, Link: link}})
	}
	require.Len(t, b.Leads["b.test"], 1)
	require.InDelta(t, 0.9, b.Leads["b.test"][0].Wanted, 0)
}

// TestALinkWasSeenFromItsFirstDayToItsLast, in whatever order imports tell of the days.
func TestALinkWasSeenFromItsFirstDayToItsLast(t *testing.T) {
	t.Parallel()
	db, site := open(t)
	seen := Seen{Site: site, Page: HashOf("http://a.test/"), Target: HashOf("http://a.test/p.pdf")}
	for _, day := range []int{5, 9, 3, 7} {
		seen.Day = time.Date(2003, 1, day, 12, 0, 0, 0, time.UTC)
		require.NoError(t, LinkSeen(t.Context(), db.Pool, []Seen{seen}))
	}
	var first, last int
	const days = `SELECT extract(day FROM first_seen)::int, extract(day FROM last_seen)::int FROM links`
	require.NoError(t, db.Pool.QueryRow(t.Context(), days).Scan(&first, &last))
	require.Equal(t, []int{3, 9}, []int{first, last})
}
