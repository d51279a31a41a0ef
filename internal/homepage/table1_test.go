package homepage

import (
	"testing"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"

	"github.com/stretchr/testify/assert"
)

func TestTable1(t *testing.T) {
	t.Parallel()
	b := baseline{page: map[string]string{"roe": "http://cs.b.edu/~roe/"}, found: pages{}}
	b.found.add("http://cs.b.edu/~roe/")
	for _, tc := range []struct {
		name    string
		results []evidence.Result
		best    string
	}{
		{"name and word beat rank", []evidence.Result{{URL: "http://a.org/x"}, {URL: "http://a.org/y", Title: "Research"}, {URL: "http://a.org/z", Title: "Jane Doe's Home Page"}}, "http://a.org/z"},
		{"word beats none", []evidence.Result{{URL: "http://a.org/x", Title: "Jane Doe"}, {URL: "http://a.org/y", Title: "Publications"}}, "http://a.org/y"},
		{"rank decides", []evidence.Result{{URL: "http://a.org/x"}, {URL: "http://a.org/y"}}, "http://a.org/x"},
		{"publisher by address", []evidence.Result{{URL: "http://portal.acm.org/x", Title: "Jane Doe Home Page"}, {URL: "http://a.org/y"}}, "http://a.org/y"},
		{"publisher by title", []evidence.Result{{URL: "http://a.org/x", Title: "Jane Doe research, ACM Digital Library"}, {URL: "http://b.org/y"}}, "http://b.org/y"},
		{"files", []evidence.Result{{URL: "http://a.org/paper.pdf", Title: "Jane Doe publications"}, {URL: "http://a.org/jane.php"}}, "http://a.org/jane.php"},
		{"an unknown ending is a page", []evidence.Result{{URL: "http://a.org/jane.doe", Title: "Jane Doe's website"}, {URL: "http://a.org/y"}}, "http://a.org/jane.doe"},
		{"co-author's domain preferred", []evidence.Result{{URL: "http://a.org/x"}, {URL: "http://math.b.edu/y"}}, "http://math.b.edu/y"},
		{"below a homepage found already", []evidence.Result{{URL: "http://cs.b.edu/~roe/papers/", Title: "Research papers of Jane Doe"}, {URL: "http://a.org/x"}}, "http://a.org/x"},
		{"nothing left", []evidence.Result{{URL: "http://link.springer.com/x"}, {URL: "ftp://a.org/"}}, ""},
	} {
		got := ""
		for _, c := range b.judge("Jane Doe", []string{"roe"}, tc.results) {
			assert.NotEmpty(t, c.Rule, tc.name)
			if c.Kept {
				got = c.URL
			}
		}
		assert.Equal(t, tc.best, got, tc.name)
	}
}

func TestTable1SeesTenResults(t *testing.T) {
	t.Parallel()
	var rs []evidence.Result
	for range 10 {
		rs = append(rs, evidence.Result{URL: "http://link.springer.com/x"})
	}
	rs = append(rs, evidence.Result{URL: "http://a.org/", Title: "Jane Doe home page"})
	cs := baseline{}.judge("Jane Doe", nil, rs)
	assert.Len(t, cs, 10)
	for _, c := range cs {
		assert.False(t, c.Kept)
	}
}

func TestVenueQuery(t *testing.T) {
	t.Parallel()
	a := gleaner.Author{Name: "Wei Wang 0003"}
	assert.Equal(t, "Wei Wang Workshop on the Web", venueQuery(a, []string{" Workshop on  the Web", "webdb"}))
	assert.Equal(t, "Wei Wang", venueQuery(a, nil))
}
