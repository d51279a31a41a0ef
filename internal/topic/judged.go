package topic

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Judgement is a person's verdict whether a page is about a topic.
type Judgement struct {
	URL      string
	Topic    string // "" for the topic for which the page was collected
	Relevant bool
	Line     int
}

// ReadJudgements reads lines of an address, 1 or 0, and an optional topic, separated by tabs. A
// line whose first field is "url" is a heading; a byte order mark is ignored.
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

// Rank is the quality of the first entries of a collection by their judgements.
type Rank struct {
	First     int     `json:"first"`  // number of entries, the best first
	Judged    int     `json:"judged"` // of them
	Relevant  int     `json:"relevant"`
	Precision float64 `json:"precision"` // among judged ones
}

// Ranks returns the ranks of a collection's entries, given as their judgements, the best entry
// first; nil is not judged. It returns the usual ranks of tables and that of the last entry.
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
