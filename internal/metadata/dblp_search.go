package metadata

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"gleaner/internal/gleaner"
)

// pageSize is the most hits that DBLP sends at once.
const pageSize = 1000

// searchAnswer is what the search service sends. Numbers are strings, and a
// field that may occur several times is an array only when it does.
type searchAnswer struct {
	Result struct {
		Hits struct {
			Total string          `json:"@total"`
			Hit   oneOrMany[sHit] `json:"hit"`
		} `json:"hits"`
	} `json:"result"`
}

type sHit struct {
	Info json.RawMessage `json:"info"`
}

type publInfo struct {
	Authors struct {
		Author oneOrMany[sAuthor] `json:"author"`
	} `json:"authors"`
	Title oneOrMany[string] `json:"title"`
	Venue oneOrMany[string] `json:"venue"`
	Pages oneOrMany[string] `json:"pages"`
	Year  string            `json:"year"`
	Type  string            `json:"type"`
	Key   string            `json:"key"`
	DOI   oneOrMany[string] `json:"doi"`
	EE    oneOrMany[string] `json:"ee"`
}

type venueInfo struct {
	Venue   oneOrMany[string] `json:"venue"`
	Acronym oneOrMany[string] `json:"acronym"`
	Type    string            `json:"type"`
	URL     string            `json:"url"`
}

// oneOrMany reads a value or an array of them.
type oneOrMany[T any] []T

func (o *oneOrMany[T]) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]T)(o))
	}
	if string(b) == "null" {
		return nil
	}
	var one T
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	*o = oneOrMany[T]{one}
	return nil
}

// first is the first value, or the zero one.
func (o oneOrMany[T]) first() (one T) {
	if len(o) > 0 {
		one = o[0]
	}
	return one
}

// sAuthor is {"@pid", "text"}, or in older answers a bare string.
type sAuthor struct{ pid, name string }

func (a *sAuthor) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &a.name)
	}
	var full struct {
		PID  string `json:"@pid"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &full); err != nil {
		return err
	}
	a.pid, a.name = full.PID, full.Text
	return nil
}

// searchVolume lists a volume by its exact table of contents, to the last page.
func (b base) searchVolume(ctx context.Context, toc string) ([]record, error) {
	var out []record
	var list paging
	seen := map[string]bool{}
	for from := 0; ; {
		ans, err := b.search(ctx, "publ", "toc:"+toc+".bht:", from, pageSize)
		if err != nil {
			return nil, err
		}
		total := atoi(ans.Result.Hits.Total)
		hits := ans.Result.Hits.Hit
		if total == 0 {
			// A volume in the index is never empty, but it may be newer than
			// the search service's copy of the data.
			return nil, fmt.Errorf("%s lists nothing under %s: %w", b.svc.name, toc, errElsewhere)
		}
		had := len(seen)
		for _, h := range hits {
			r, err := publRecord(h.Info)
			if err != nil {
				return nil, ErrBadAnswer{b.svc.name, toc, err}
			}
			r.url = toc + ".html"
			seen[r.key] = true
			out = append(out, r)
		}
		from += len(hits)
		if from >= total {
			return out, nil
		}
		if len(hits) == 0 {
			return nil, fmt.Errorf("%s sent %d of %d records of %s: %w", b.svc.name, from, total, toc, errElsewhere)
		}
		if err := list.more(len(seen)-had, hits); err != nil {
			return nil, ErrBadAnswer{b.svc.name, toc, err}
		}
	}
}

func publRecord(info json.RawMessage) (record, error) {
	var p publInfo
	if err := json.Unmarshal(info, &p); err != nil {
		return record{}, err
	}
	kind, known := searchKinds[p.Type]
	if !known {
		// A type that is new to us is judged by where the record stands.
		kind = "inproceedings"
		if strings.HasPrefix(p.Key, "journals/") {
			kind = "article"
		}
	}
	r := record{
		kind: kind, key: p.Key, title: p.Title.first(), year: atoi(p.Year), pages: p.Pages.first(),
		doi: p.DOI.first(), ee: p.EE, booktitle: p.Venue.first(),
	}
	for _, a := range p.Authors.Author {
		r.authors = append(r.authors, gleaner.Author{PID: a.pid, Name: a.name})
	}
	return r, nil
}

// search asks one of the search services ("publ", "venue").
func (b base) search(ctx context.Context, what, q string, from, count int) (searchAnswer, error) {
	var ans searchAnswer
	addr := query(b.url, "/search/"+what+"/api", url.Values{
		"q": {q}, "format": {"json"}, "h": {strconv.Itoa(count)}, "f": {strconv.Itoa(from)},
	})
	err := b.svc.get(ctx, addr, func(body []byte) error {
		if err := b.svc.decoding(addr, &ans)(body); err != nil {
			return err
		}
		if ans.Result.Hits.Total == "" {
			return ErrBadAnswer{b.svc.name, addr, errors.New("no count of hits: " + excerpt(body))}
		}
		return nil
	})
	if is[ErrNotFound](err) {
		// The service answers an unknown table of contents with 0 hits; a 404
		// is the service itself that is not there.
		return ans, ErrUnavailable{Service: b.svc.name, URL: addr, Status: 404, Err: errors.New("no search service")}
	}
	return ans, err
}

// searchHits returns what one of the search services finds for some words, a hundred at most.
func searchHits[T any](ctx context.Context, b base, what, words string) ([]T, error) {
	ans, err := b.search(ctx, what, words, 0, 100)
	if err != nil {
		return nil, err
	}
	out := make([]T, len(ans.Result.Hits.Hit))
	for i, h := range ans.Result.Hits.Hit {
		if err := json.Unmarshal(h.Info, &out[i]); err != nil {
			return nil, ErrBadAnswer{b.svc.name, words, err}
		}
	}
	return out, nil
}

// searchVenues lists the venues that match some words.
func (b base) searchVenues(ctx context.Context, words string) ([]VenueInfo, error) {
	found, err := searchHits[venueInfo](ctx, b, "venue", words)
	out := []VenueInfo{}
	for _, v := range found {
		if key := venueKey(v.URL); key != "" {
			out = append(out, VenueInfo{Key: key, Name: cleanTitle(v.Venue.first()), Acronym: cleanTitle(v.Acronym.first()), Kind: v.Type})
		}
	}
	return out, err
}
