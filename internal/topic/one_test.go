package topic_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	. "gleaner/internal/topic"
)

// TestOneTopic: what all pages of a topic say is what it is about, also where there is no
// other topic whose pages do not say it.
func TestOneTopic(t *testing.T) {
	t.Parallel()
	f := filter(t)
	o := Defaults()
	o.Overlap, o.LeastResults = 1, 2
	m, _ := Build(o, []Topic{{ID: "math"}}, pages(f, "math", "prime prime number", "prime number number number oven"))
	require.Equal(t, 2, m.N)
	require.True(t, m.Alone())
	// Weights: prime 3·2/7, number 4·2/7, oven 1·1/7. Two pages more have none of the words:
	// idf of prime and number is ln 2, of oven ln 4.
	prime, oven := math.Log(2), math.Log(4)
	got := m.Vectors(f).Classify(Page{Text: "prime oven"})
	require.Len(t, got, 1)
	require.InDelta(t, (6*prime+oven)/(math.Sqrt(6*6+8*8+1)*math.Hypot(prime, oven)), got[0].Correlation, 1e-8)
	share, _ := Own(m.SelfCheck(m.Vectors(f), pages(f, "math", "prime prime number", "prime number number number oven")))
	require.InDelta(t, 1, share, 0)

	// Six pages of the crawl are about something else, and say "oven" alone: of eight pages
	// and two more prime is in two, oven in seven.
	prime, oven = math.Log(10.0/2), math.Log(10.0/7)
	got = m.Relearnt(6, map[string]int{"oven": 6}).Vectors(f).Classify(Page{Text: "prime oven"})
	require.InDelta(t, (6*prime+oven)/(math.Sqrt(6*6+8*8+1)*math.Hypot(prime, oven)), got[0].Correlation, 1e-8)

	two, _ := Build(o, []Topic{{ID: "math"}, {ID: "verse"}}, append(pages(f, "math", "prime", "prime"), pages(f, "verse", "sonnet", "sonnet")...))
	require.False(t, two.Alone())
	require.InDelta(t, 1, two.Vectors(f).Classify(Page{Text: "prime"})[0].Correlation, 1e-8)
}
