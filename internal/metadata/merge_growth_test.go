package metadata

import (
	"fmt"
	"strings"
	"testing"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/growthtest"
)

// twoLists cuts some lines into two sources' papers, of which each is made of its
// line's number.
func twoLists(lines []byte, paper func(source string, i int) gleaner.Paper) []Listing {
	out := []Listing{{Source: "a"}, {Source: "b"}, {Source: "c", Enrich: true}}
	for i := range strings.Count(string(lines), "\n") {
		for k := range out {
			out[k].Papers = append(out[k].Papers, paper(out[k].Source, i))
		}
	}
	return out
}

// However alike the papers of two sources are, merging them costs no more than
// they are many.
func TestMergingGrowsWithTheLists(t *testing.T) {
	const title = "On the Growth of Lists in Which Everything Has One Title"
	by := func(i int) []gleaner.Author { return []gleaner.Author{{Name: fmt.Sprint("Ada King", i)}} }
	for name, paper := range map[string]func(source string, i int) gleaner.Paper{
		"one title, a DOI each": func(source string, i int) gleaner.Paper {
			return gleaner.Paper{Key: fmt.Sprint(source, i), Title: title, DOI: fmt.Sprintf("10.1000/%s.%d", source, i), Year: 2003}
		},
		"one title, the same DOIs": func(source string, i int) gleaner.Paper {
			return gleaner.Paper{Key: fmt.Sprint(source, i), Title: title, DOI: fmt.Sprint("10.1000/", i), Year: 2003}
		},
		"one title, no DOI": func(source string, i int) gleaner.Paper {
			return gleaner.Paper{Key: fmt.Sprint(source, i), Title: title, Year: 2003}
		},
		"one title, other authors": func(source string, i int) gleaner.Paper {
			return gleaner.Paper{Key: fmt.Sprint(source, i), Title: title, Year: 2003, Authors: by(i)}
		},
		"one title, many years": func(source string, i int) gleaner.Paper {
			return gleaner.Paper{Key: fmt.Sprint(source, i), Title: title, Year: 1000 + i%1000, Authors: by(i)}
		},
		"one DOI": func(source string, i int) gleaner.Paper {
			return gleaner.Paper{Key: fmt.Sprint(source, i), Title: fmt.Sprint(title, " ", i), DOI: "10.1000/a", Year: 2003}
		},
		"one arXiv id": func(source string, i int) gleaner.Paper {
			return gleaner.Paper{Key: fmt.Sprint(source, i), Title: fmt.Sprint("Paper", i), ArXiv: "2001.01234", Year: 2003}
		},
		"a title of a few letters": func(source string, i int) gleaner.Paper {
			return gleaner.Paper{Key: fmt.Sprint(source, i), Title: "News", Year: 2003, DOI: fmt.Sprintf("10.1000/%s.%d", source, i)}
		},
		"no title": func(source string, i int) gleaner.Paper {
			return gleaner.Paper{Key: fmt.Sprint(source, i), Year: 2003}
		},
		"one key": func(source string, i int) gleaner.Paper {
			return gleaner.Paper{Key: "a", Title: fmt.Sprint(title, " ", i), DOI: fmt.Sprint("10.1000/", i), Pages: fmt.Sprint(i), Year: i}
		},
		"links of one paper": func(source string, i int) gleaner.Paper {
			return gleaner.Paper{Key: "a", Title: title, Links: []string{fmt.Sprint("https://a.example/", source, i)}}
		},
	} {
		n := 128 // beyond what one paper is compared with
		if strings.HasSuffix(name, "a DOI each") {
			n = 16 // it is compared with none
		}
		t.Run(name, func(t *testing.T) {
			growthtest.Linear(t, n, func(n int) []byte { return []byte(strings.Repeat("\n", n)) }, func(in []byte) {
				Merge(twoLists(in, paper)...)
			})
		})
	}
}
