package stats

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
)

// TestYieldsAreTheParents checks that documents and citations count for the domain whose
// pages link to them, wherever the files lie (Wu et al., WebSci 2012). A document to which
// two hosts of a domain link counts once.
func TestYieldsAreTheParents(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	ada, cs, cdn := r.site("www.ada-university.edu"), r.site("cs.ada-university.edu"), r.site("files.cdnhost.com")
	const pubs, old = "http://www.ada-university.edu/pubs.html", "http://cs.ada-university.edu/old.html"
	r.page(ada, pubs, "")
	r.page(cs, old, "")
	for _, name := range []string{"a", "b", "c"} {
		r.document(cdn, "http://files.cdnhost.com/"+name+".pdf", pubs, name, true)
	}
	r.linked(cs, old, "http://files.cdnhost.com/a.pdf")
	bob := r.site("bob.edu")
	r.page(bob, "http://bob.edu/", "")
	r.document(bob, "http://bob.edu/d.pdf", "http://bob.edu/", "d", true)
	require.NoError(t, r.SaveCitations(t.Context(), "file", map[string]int64{"ada-university.edu": 100, "bob.edu": 10}))
	g, err := Generate(t.Context(), r.DB, nil, Lists{Domains: 10}, nil)
	require.NoError(t, err)
	require.Equal(t, []int{2, 4}, []int{g.Domains, g.Documents})
	require.EqualValues(t, 110, g.Citations)
	urls, err := r.Whitelist(t.Context(), -1, "", 0)
	require.NoError(t, err)
	require.Equal(t, []store.ListedURL{
		{URL: pubs, Domain: "ada-university.edu", Position: 1, Documents: 3, Good: true},
		{URL: old, Domain: "ada-university.edu", Position: 2, Documents: 1},
		{URL: "http://bob.edu/", Domain: "bob.edu", Position: 3, Documents: 1},
	}, urls)
}

// TestSharesAreOfTheLists checks that N_d sums list D and N_c list C.
func TestSharesAreOfTheLists(t *testing.T) {
	t.Parallel()
	documents := map[string]int{"a": 6, "b": 4, "c": 1}
	for _, r := range rankDomains(documents, map[string]int64{"a": 30, "b": 10, "c": 5}, 2) {
		require.InDelta(t, float64(documents[r.Domain])/10, r.PDocuments, 1e-12)
		require.InDelta(t, float64(r.Citations)/40, r.PCitations, 1e-12)
	}
}
