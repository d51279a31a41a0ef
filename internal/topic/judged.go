package topic

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Judgement is what a person says of a page: whether it is about a topic.
type Judgement struct {
	URL      string
	Topic    string // "" for whichever the page was collected for
	Relevant bool
	Line     int
}

// ReadJudgements reads lines of an address, 1 or 0, and perhaps a topic, parted by tabs.
// A line whose first field is "url" is a heading; a byte order mark is passed over.
func ReadJudgements(r io.Reader) (out []Judgement, err error) {
	sc := bufio.NewScanner(r)
	n := 1
	for ; sc.Scan(); n++ {
		fields := strings.Split(strings.TrimRight(strings.TrimPrefix(sc.Text(), "\ufeff"), "\r"), "\t")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		switch {
		case fields[0] == "url" || len(fields) == 1 && fields[0] == "":
			continue
		case len(fields) < 2 || len(fields) > 3 || fields[0] == "" || fields[1] != "0" && fields[1] != "1":
			return nil, fmt.Errorf("judgements, line %d: want an address, a tab and 1 or 0, have %.100q", n, sc.Text())
		}
		j := Judgement{URL: fields[0], Relevant: fields[1] == "1", Line: n}
		if len(fields) == 3 {
			j.Topic = fields[2]
		}
		out = append(out, j)
	}
	if sc.Err() != nil {
		return nil, fmt.Errorf("judgements, line %d: %w", n, sc.Err())
	}
	return out, nil
}

// Rank is how good the first entries of a collection are, by the judgements of them.
type Rank struct {
	First     int     `json:"first"`  // so many entries, the best first
	Judged    int     `json:"judged"` // of them
	Relevant  int     `json:"relevant"`
	Precision float64 `json:"precision"` // of those judged
}

// Ranks measures a collection's entries, the best first: what the judgement of each
// is, nil where there is none. The ranks are those of tables, and the last entry's.
func Ranks(entries []*bool) (out []Rank) {
	at := Rank{}
	for i, relevant := range entries {
		at.First = i + 1
		if relevant != nil {
			at.Judged++
			if *relevant {
				at.Relevant++
			}
			at.Precision = float64(at.Relevant) / float64(at.Judged)
		}
		switch at.First {
		case 5, 10, 20, 50, 100, 200, 500, 1000, len(entries):
			out = append(out, at)
		}
	}
	return out
}
