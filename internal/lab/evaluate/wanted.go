package evaluate

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/match"
	"gleaner/internal/web/weburl"
)

// Wanted is a paper that a crawl is for, and the addresses of its documents.
type Wanted struct {
	Title string
	URLs  []string
}

// ReadWanted reads a line each with title, tab, addresses parted by spaces.
func ReadWanted(r io.Reader) ([]Wanted, error) {
	var out []Wanted
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		title, urls, ok := strings.Cut(lines.Text(), "\t")
		if !ok || strings.TrimSpace(title) == "" {
			return nil, fmt.Errorf("evaluate: wanted papers: %q: want title, tab, addresses", lines.Text())
		}
		out = append(out, Wanted{title, strings.Fields(urls)})
	}
	return out, lines.Err()
}

// For is the setup of a crawl for papers, as a harvest crawls: their titles are looked out
// for, and they alone count.
func (s Setup) For(papers []Wanted) Setup {
	var titles []gleaner.Paper
	goals := map[string]string{}
	for _, p := range papers {
		titles = append(titles, gleaner.Paper{Title: p.Title})
		for _, u := range p.URLs {
			goals[unescapedKey(u)] = p.Title
		}
	}
	s.Wanted = match.NewIndex(titles)
	s.Goal = func(u string) string { return goals[unescapedKey(u)] }
	return s
}

// unescapedKey is the identity of an address, however its letters are written.
func unescapedKey(raw string) string {
	k := weburl.Key(raw)
	if u, err := url.PathUnescape(k); err == nil {
		return u
	}
	return k
}
