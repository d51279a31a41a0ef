package stats

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
)

func TestRankLists(t *testing.T) {
	t.Parallel()
	lists := func(documents map[string]int, citations map[string]int64, size int) map[string]string {
		out := map[string]string{}
		for _, r := range rankDomains(documents, citations, size) {
			out[r.Domain] = r.List
		}
		return out
	}
	documents := map[string]int{"a": 10, "b": 5, "c": 1}
	require.Equal(t, map[string]string{"a": "core", "b": "D", "c": "C"}, lists(documents, map[string]int64{"a": 5, "c": 50, "b": 1}, 2))
	require.Equal(t, map[string]string{"a": "core", "b": "core", "c": ""}, lists(documents, nil, 2), "without citations documents decide")
}

// TestWhitelistHasListC: what is on list D alone is no academic domain, as the paper
// has it, unless it is asked for; and a page that links to more than one accepted
// document is a good parent.
func TestWhitelistHasListC(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.homepages("cited.org", "many.com")
	r.document(r.site("many.com"), "http://many.com/c.pdf", "http://many.com/", "c", true)
	require.NoError(t, r.SaveCitations(t.Context(), "file", map[string]int64{"cited.org": 90}))
	listed := func(o Lists) []store.ListedURL {
		_, urls := r.generate(o)
		return urls
	}
	cited := store.ListedURL{URL: "http://cited.org/pubs.html", Domain: "cited.org", Position: 1, Documents: 2, Good: true}
	require.Equal(t, []store.ListedURL{cited}, listed(Lists{}))
	pubs := store.ListedURL{URL: "http://many.com/pubs.html", Domain: "many.com", Position: 2, Documents: 2, Good: true}
	require.Equal(t, []store.ListedURL{cited, pubs, {URL: "http://many.com/", Domain: "many.com", Position: 3, Documents: 1}}, listed(Lists{Uncited: true}))
	require.Equal(t, []store.ListedURL{cited, pubs}, listed(Lists{Uncited: true, Least: 2}))
}

// TestWhitelistOfWhatWasIngested: where that is asked for, what the library did not
// take in counts for nothing.
func TestWhitelistOfWhatWasIngested(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.homepages("few.org", "many.com")
	r.document(r.site("many.com"), "http://many.com/c.pdf", "http://many.com/", "c", true)
	g, urls := r.generate(Lists{})
	require.Equal(t, 5, g.Documents)
	require.Equal(t, "many.com", urls[0].Domain)
	g, urls = r.generate(Lists{Ingested: true})
	require.Zero(t, g.Documents, "nothing was taken in yet")
	require.Empty(t, urls)
	require.NoError(t, r.SetIngestion(t.Context(), "ingested", "few.orga", "few.orgb"))
	require.NoError(t, r.SetIngestion(t.Context(), "failed", "many.coma"))
	require.NoError(t, r.SetIngestion(t.Context(), "ingested", "c"))
	g, urls = r.generate(Lists{Ingested: true})
	require.Equal(t, 3, g.Documents)
	require.Equal(t, []store.ListedURL{{URL: "http://few.org/pubs.html", Domain: "few.org", Position: 1, Documents: 2, Good: true},
		{URL: "http://many.com/", Domain: "many.com", Position: 2, Documents: 1}}, urls)
}

// TestHostsOfTheBestDomainsComeFirst: in recrawls and in harvests, then those whose
// domains are ranked and not listed, then the others by name; page by page nothing
// is listed twice or passed over.
func TestHostsOfTheBestDomainsComeFirst(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	require.NoError(t, r.SaveHarvest(t.Context(), store.Harvest{ID: "h", Venue: "v", Options: []byte(`{}`), Stage: "crawl"}))
	for _, host := range []string{"www.z-best.edu", "cs.z-best.edu:8080", "m-good.org", "y-gave.com", "a.example", "b.example"} {
		r.homepage(host)
		require.NoError(t, r.FinishCrawl(t.Context(), host, store.CrawlEnd{State: "done"}, recrawl.Defaults()))
	}
	r.exec(`DELETE FROM locations USING sites WHERE site_id=sites.id AND host IN ('a.example', 'b.example')`)
	r.exec(`UPDATE sites SET due_at=now(); UPDATE urls SET state=0 WHERE url LIKE '%/pubs.html'; INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT 'h', id, 'homepage' FROM sites`)
	listed := func(limit int, list func(after string, limit int) ([]string, string, error)) (all []string) {
		for after := ""; ; {
			hosts, last, err := list(after, limit)
			require.NoError(t, err)
			all, after = append(all, hosts...), last
			if len(hosts) < limit {
				return all
			}
		}
	}
	both := func() []string {
		var all [][]string
		for _, limit := range []int{1, 2, 100} {
			all = append(all,
				listed(limit, func(after string, n int) ([]string, string, error) {
					return r.DueSites(t.Context(), store.Selection{}, false, after, n)
				}),
				listed(limit, func(after string, n int) ([]string, string, error) {
					return r.SitesToCrawl(t.Context(), "h", after, n)
				}))
		}
		require.Len(t, slices.CompactFunc(all, slices.Equal), 1, fmt.Sprint(all))
		return all[0]
	}
	require.Equal(t, []string{"a.example", "b.example", "cs.z-best.edu:8080", "m-good.org", "www.z-best.edu", "y-gave.com"}, both(), "without a list")

	require.NoError(t, r.SaveCitations(t.Context(), "file", map[string]int64{"z-best.edu": 90, "m-good.org": 10}))
	r.generate(Lists{})
	require.Equal(t, []string{"cs.z-best.edu:8080", "www.z-best.edu", "m-good.org", "y-gave.com", "a.example", "b.example"}, both())
}

// TestSmallDomainsAreSeededWhenTheirTimeHasCome: a domain that gave little is not
// asked each time that the list is, but for pages that are new to it.
func TestSmallDomainsAreSeededWhenTheirTimeHasCome(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.homepages("large.edu", "small.edu")
	r.document(r.site("large.edu"), "http://large.edu/c.pdf", "http://large.edu/pubs.html", "c", true)
	r.generate(Lists{})
	due := func(small int) []string {
		for _, host := range []string{"large.edu", "small.edu"} {
			require.NoError(t, r.FinishCrawl(t.Context(), host, store.CrawlEnd{State: "done"}, recrawl.Defaults()))
		}
		r.exec(`UPDATE sites SET due_at=now() + interval '1 day'; UPDATE urls SET due_at=now() + interval '1 day', state=was`)
		_, err := r.SeedWhitelist(t.Context(), small)
		require.NoError(t, err)
		hosts, _, err := r.DueSites(t.Context(), store.Selection{}, false, "", 10)
		require.NoError(t, err)
		return hosts
	}
	require.Equal(t, []string{"large.edu", "small.edu"}, due(0))
	require.Equal(t, []string{"large.edu"}, due(3))
	require.NoError(t, r.ImportWhitelist(t.Context(), []store.ListedURL{{URL: "http://small.edu/new.html", Domain: "small.edu", Position: 9}}))
	require.Equal(t, []string{"large.edu", "small.edu"}, due(3), "a page that was never asked")
}
