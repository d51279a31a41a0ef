package evaluate

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/repository"
	"gleaner/internal/web/weburl"
)

// Library is sites, and the papers that are looked for on them.
type Library struct {
	Sites  []Named
	Papers []Published
}

// Published is a paper of a venue and a year; a held one is not looked for.
type Published struct {
	Wanted
	Venue string
	Year  int
	Held  bool
}

// ReadPublished reads papers, a line each: key, venue, year, title, authors and addresses, parted by
// tabs. Papers are held whose title is.
func ReadPublished(r io.Reader, held map[string]bool) (out []Published, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		cells := strings.Split(lines.Text(), "\t")
		if len(cells) < 6 || cells[0] == "key" {
			continue
		}
		p := Published{Wanted: Wanted{Title: cells[3], URLs: strings.Fields(cells[5])}, Venue: cells[1], Held: held[cells[3]]}
		if p.Year, err = strconv.Atoi(cells[2]); err != nil {
			return nil, fmt.Errorf("evaluate: papers: %q: want a year", lines.Text())
		}
		out = append(out, p)
	}
	return out, lines.Err()
}

// Citations are what a generated library is cited by the domain of its papers: each once in every
// year after its own.
func (lib Library) Citations() map[string]int64 {
	out, last := map[string]int64{}, 0
	for _, p := range lib.Papers {
		last = max(last, p.Year)
	}
	for _, p := range lib.Papers {
		if len(p.URLs) > 0 {
			out[weburl.Domain(weburl.Host(p.URLs[0]))] += int64(last - p.Year)
		}
	}
	return out
}

// WriteWARC writes all that crawls of the sites get.
func WriteWARC(out io.Writer, sites []Named) error {
	w, err := repository.NewWARC(out, "", "lab papers")
	if err != nil {
		return err
	}
	for _, s := range sites {
		run, err := BreadthFirst(s.Setup)
		if err != nil {
			return err
		}
		for _, step := range run.Answered() {
			a, err := s.Setup.Site.Get(step.URL)
			if err == nil {
				err = w.Response(repository.Item{URL: step.URL, Header: http.Header{"Content-Type": {http.DetectContentType(a.Body)}}}, a.Body)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// fromHandler asks a handler in this process.
func fromHandler(h http.Handler) Ask {
	return func(u string) (Recorded, error) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, u, nil))
		return Recorded{URL: u, Status: rec.Code, Header: rec.Header(), Body: rec.Body.Bytes()}, nil
	}
}

// GeneratedLibrary is a generated web: a site of a conference, all documents of which are papers,
// and the homepages of sixty people with the papers of a venue, each fourth of which is held.
func GeneratedLibrary() (lib Library) {
	const conference = "http://" + sampleweb.ConferenceHost + "/"
	web := sampleweb.New(sampleweb.Options{Seed: 1, Papers: 240, Authors: 60, FirstYear: 1998, Years: 7, ConferencePages: 5000})
	truth, papers := web.Truth(), map[string]bool{}
	for i, p := range truth.Papers {
		lib.Papers = append(lib.Papers, Published{Wanted: Wanted{p.Title, p.URLs}, Venue: p.Venue, Year: p.Year, Held: i%4 == 0})
		for _, u := range p.URLs {
			papers[unescapedKey(u)] = true
		}
	}
	judge := func(u string) Kind {
		if papers[unescapedKey(u)] || strings.HasPrefix(u, conference) {
			return Paper
		}
		return "other"
	}
	for _, a := range append(truth.Authors, sampleweb.AuthorTruth{Homepage: conference}) {
		if a.Homepage != "" {
			site := NewSnapshot(a.Homepage, fromHandler(web))
			lib.Sites = append(lib.Sites, Named{a.Homepage, Setup{Site: site, Judge: judge}})
		}
	}
	return lib
}
