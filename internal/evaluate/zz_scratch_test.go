package evaluate

import (
	"fmt"
	"os"
	"regexp"
	"sort"
	"testing"

	"gleaner/internal/page"
	"gleaner/internal/rank"
	"gleaner/internal/sampleweb"
)

func TestZZ(t *testing.T) {
	if os.Getenv("TUNE") == "" {
		t.Skip()
	}
	const host = "www.bigconf.example"
	web := sampleweb.New(sampleweb.Options{Seed: 1, Conferences: []sampleweb.Conference{{Host: host, Pages: 5000}}})
	_, start := web.ConferenceSize(host)
	s, _ := rank.New(rank.Gleaner, rank.Options{})
	r, _ := Simulate(Setup{Site: NewSnapshot(start, FromHandler(web.Handler()), page.Parse), Judge: func(string) Kind { return Paper }}, s)
	re := regexp.MustCompile(`[0-9]+`)
	n := map[string]int{}
	got, pages := 0, 0
	for i, st := range r.Answered() {
		k := re.ReplaceAllString(st.URL[len("http://"+host):], "N")
		n[k]++
		if !st.Document {
			pages++
		}
		if st.Kind == Paper {
			got++
		}
		if i < 100 || i%20 == 0 && i < 2500 {
			fmt.Println(i, pages, got, st.Kind, st.URL[len("http://"+host):], "|", st.Reason)
		}
		if i == 1000 || i==3000 {
			var ks []string
			for k := range n {
				ks = append(ks, fmt.Sprintf("%s:%d", k, n[k]))
			}
			sort.Strings(ks)
			fmt.Println("====", pages, got, ks)
		}
	}
}
