package crawl

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"

	"gleaner/internal/fetch"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
)

// kind is what a URL of a random web answers.
type kind int

const (
	aPage kind = iota
	aPDF
	aCopy     // a page with the same bytes as others
	aRedirect // to a page or a PDF of the site
	anAway    // a redirect to another host
	aMissing  // 404
	aDenied   // by robots.txt
	aFailing  // 500 at each request
	kinds
)

type node struct {
	kind  kind
	to    string
	links []string
}

// randomWeb is a site of one host, a Fetcher of it, and the count of requests.
type randomWeb struct {
	pages map[string]*node
	start string

	mu     sync.Mutex
	hits   map[string]int
	asked  int
	killAt int // the request over which the process dies; 0 for none
}

const randomHost = "web.test"

// newRandomWeb makes a web of n URLs in scope (/a/), each of which a page that is
// followed links to. The first page has the first wide of them; where these are all,
// no page repeats a link.
func newRandomWeb(rnd *rand.Rand, n, wide int) *randomWeb {
	w := &randomWeb{pages: map[string]*node{}, hits: map[string]int{}, start: "http://" + randomHost + "/a/"}
	followed, targets := []*node{{}}, []string{}
	w.pages[w.start] = followed[0]
	for i := range n - 1 {
		k := aPage
		if i%3 == 0 {
			k = kind(rnd.IntN(int(kinds)))
		}
		if k == aRedirect && len(targets) == 0 {
			k = aPage
		}
		url := fmt.Sprintf("http://%s/a/%d/%d%s", randomHost, i/1000, i, map[kind]string{aPDF: ".pdf"}[k])
		at := &node{kind: k}
		switch k {
		case aRedirect:
			at.to = targets[rnd.IntN(len(targets))]
		case anAway:
			at.to = fmt.Sprintf("http://away.test/%d", i)
		}
		from := followed[0]
		if i >= wide {
			from = followed[rnd.IntN(len(followed)/2+1)]
		}
		from.links = append(from.links, url)
		w.pages[url] = at
		switch k {
		case aPage:
			followed, targets = append(followed, at), append(targets, url)
		case aPDF:
			targets = append(targets, url)
		}
	}
	for _, p := range followed[:min(n-wide, len(followed))] { // links that repeat, and links that are not to be followed
		for range rnd.IntN(3) {
			if len(targets) > 0 {
				p.links = append(p.links, targets[rnd.IntN(len(targets))]+"#part")
			}
			p.links = append(p.links, fmt.Sprintf("http://%s/b/%d", randomHost, rnd.IntN(9)), w.start)
		}
		rnd.Shuffle(len(p.links), func(i, j int) { p.links[i], p.links[j] = p.links[j], p.links[i] })
	}
	return w
}

func (w *randomWeb) hit(url string) {
	w.mu.Lock()
	w.hits[url]++
	w.asked++
	dies := w.asked == w.killAt
	w.mu.Unlock()
	if dies {
		runtime.Goexit()
	}
}

func (w *randomWeb) Fetch(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	url, at := r.URL, w.pages[r.URL]
	if at != nil && at.kind == aDenied {
		return nil, &fetch.Error{Outcome: fetch.RobotsDenied, URL: url}
	}
	w.hit(url)
	if at != nil && at.kind == anAway {
		return nil, &fetch.Error{Outcome: fetch.RedirectOffHost, URL: url, Location: at.to, Status: http.StatusFound}
	}
	if at != nil && at.kind == aRedirect {
		if r.Known(at.to) {
			return nil, &fetch.Error{Outcome: fetch.RedirectKnown, URL: url, Location: at.to, Status: http.StatusFound}
		}
		url, at = at.to, w.pages[at.to]
		w.hit(url)
	}
	body, media := "", "text/html; charset=utf-8"
	switch {
	case at == nil || at.kind == aMissing:
		return nil, &fetch.Error{Outcome: fetch.NotFound, URL: url, Status: http.StatusNotFound}
	case at.kind == aFailing:
		return nil, &fetch.Error{Outcome: fetch.ServerError, URL: url, Status: http.StatusInternalServerError}
	case at.kind == aPDF:
		body, media = "%PDF-1.4\n"+url, "application/pdf"
	case at.kind == aCopy:
		body = "<title>A copy</title>"
	default:
		body = "<title>Page</title><p>" + url + links(at.links...) + `<a rel=nofollow href="/a/secret">x</a>`
	}
	return &fetch.Response{URL: url, Status: http.StatusOK, Header: http.Header{"Content-Type": {media}}, Body: []byte(body), Bytes: int64(len(body))}, nil
}

func (*randomWeb) Sitemaps(context.Context, string, fetch.Terms) ([]string, error) { return nil, nil }

// wrong says what is wrong with the end of a crawl: of each URL what became of it,
// and how often it may have been asked for at most. repeats is how many requests
// beyond that crashes excuse.
func (w *randomWeb) wrong(states map[string]frontier.State, tries, repeats int) error {
	var errs []error
	for url, at := range w.pages {
		state, known := states[url]
		right := map[kind][]frontier.State{
			aPage: {frontier.Page, frontier.Moved}, aPDF: {frontier.Document, frontier.Moved}, aCopy: {frontier.Page},
			aRedirect: {frontier.Page, frontier.Document, frontier.Moved}, anAway: {frontier.Moved},
			aMissing: {frontier.Gone}, aDenied: {frontier.Gone}, aFailing: {frontier.Failed},
		}[at.kind]
		if !known || !strings.Contains(fmt.Sprint(right), fmt.Sprint(state)) {
			errs = append(errs, fmt.Errorf("%s (%d) has state %d, known: %v", url, at.kind, state, known))
		}
		want := map[kind]int{aDenied: 0, aFailing: tries}
		times, ok := want[at.kind]
		if !ok {
			times = 1
		}
		if w.hits[url] < times {
			errs = append(errs, fmt.Errorf("%s was asked for %d times, not %d", url, w.hits[url], times))
		}
		repeats -= w.hits[url] - times
	}
	for url, n := range w.hits {
		if w.pages[url] == nil {
			errs = append(errs, fmt.Errorf("%s is out of scope and was asked for %d times", url, n))
		}
	}
	if repeats < 0 {
		errs = append(errs, fmt.Errorf("%d requests were repeated that no crash excuses", -repeats))
	}
	return errors.Join(errs...)
}

func (w *randomWeb) seed() frontier.Entry {
	return frontier.Entry{Candidate: page.Candidate{Link: page.Link{URL: w.start, Source: page.SourceSeed}, Queue: 3, Priority: 1}}
}
