package homepage

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
)

// Priorities of Table 1.
const (
	High   = "high"
	Medium = "medium"
	Low    = "low"
)

// table1Results is how many search results Table 1 looks at.
const table1Results = 10

// table1Words are the words of Table 1's priority rules.
var table1Words = []string{"homepage", "home page", "web", "website", "research", "publication", "publications", "papers"}

// baseline is the homepage database that Zhuang et al. fill: the page that Table 1
// chooses for each author, one author after the other.
type baseline struct {
	page  map[string]string // by author
	found pages
}

// judge lets Table 1 choose for an author from the first ten results for a name (N)
// and a venue, by their addresses (U) and titles (T); it never sees a page.
//
//  1. U is dropped where U or T shows a publisher or a digital library.
//  2. U is dropped where it names a file other than a web page.
//  3. Namesakes: U is dropped where it is or lies below a homepage that was found
//     for somebody else; a U in the domain of co-authors' homepages is preferred.
//  4. Priority is high if T contains N and a word such as "homepage", medium if
//     it contains such a word without N, else low.
//
// It returns all candidates in the order of the results; the best of them, by
// priority, then co-authors' domain, then rank, is marked as kept.
func (b baseline) judge(author string, coAuthors []string, results []evidence.Result) []evidence.Candidate {
	var near []string
	for _, co := range coAuthors {
		if u := b.page[co]; u != "" {
			near = append(near, u)
		}
	}
	out := make([]evidence.Candidate, 0, table1Results)
	best := -1
	for i, r := range results[:min(len(results), table1Results)] {
		c := b.candidate(author, near, r)
		out = append(out, c)
		if c.Priority != "" && (best < 0 || table1Less(near, out[best], c)) {
			best = i
		}
	}
	if best >= 0 {
		out[best].Kept = true
	}
	return out
}

func (b baseline) candidate(author string, near []string, r evidence.Result) evidence.Candidate {
	c := evidence.Candidate{URL: r.URL, Title: r.Title, Source: evidence.SourceVenue, Rank: r.Rank}
	canonical, err := weburl.Canonical("", r.URL)
	if err != nil {
		c.Rule = "not a web address"
		return c
	}
	u, err := url.Parse(canonical)
	switch {
	case err != nil:
		c.Rule = "not a web address"
	case isPublisher(u, r.Title):
		c.Rule = "publisher or digital library"
	case isFile(u):
		c.Rule = "not a web page: ." + strings.TrimPrefix(strings.ToLower(path.Ext(u.Path)), ".")
	case b.found.over(canonical):
		c.Rule = "at or below a homepage that was found for another"
	default:
		c.Priority, c.Rule = table1Priority(author, r.Title)
		if inDomains(canonical, near) {
			c.Rule += "; in a co-author's domain"
		}
	}
	return c
}

// table1 chooses for all authors as Zhuang et al. would, in the order of their ids,
// from what the first search for each brought. It changes the choices in place and
// says whose it changed. A decision without those results keeps its choice.
func table1(decisions []evidence.Decision) (changed []int) {
	b := baseline{page: map[string]string{}, found: pages{}}
	order := make([]int, len(decisions))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return strings.Compare(decisions[i].Author.ID(), decisions[j].Author.ID())
	})
	for _, i := range order {
		d := &decisions[i]
		choice := d.Table1
		if len(d.Searched) > 0 {
			choice = ""
		}
		for _, c := range b.judge(d.Author.Name, d.CoAuthors, d.Searched) {
			if c.Kept {
				choice = c.URL
			}
		}
		if choice != "" {
			b.page[d.Author.ID()] = choice
			b.found.add(choice)
		}
		if choice != d.Table1 {
			d.Table1 = choice
			changed = append(changed, i)
		}
	}
	return changed
}

// table1Priority looks for N and the words in T.
func table1Priority(author, title string) (priority, rule string) {
	t := " " + strings.Join(text.Words(title), " ") + " "
	hasWord := slices.ContainsFunc(table1Words, func(w string) bool { return strings.Contains(t, " "+w+" ") })
	n := strings.Join(text.Words(displayName(author)), " ")
	switch {
	case hasWord && n != "" && strings.Contains(t, " "+n+" "):
		return High, "title has the name and a homepage word"
	case hasWord:
		return Medium, "title has a homepage word without the name"
	default:
		return Low, "title has no homepage word"
	}
}

// table1Less reports whether b is better than a, which came before it; near are the
// homepages of co-authors.
func table1Less(near []string, a, b evidence.Candidate) bool {
	order := map[string]int{Low: 1, Medium: 2, High: 3}
	if order[a.Priority] != order[b.Priority] {
		return order[b.Priority] > order[a.Priority]
	}
	return !inDomains(a.URL, near) && inDomains(b.URL, near)
}

// inDomains reports whether u is in the registrable domain of one of the pages.
func inDomains(u string, pages []string) bool {
	d := weburl.Domain(weburl.Host(u))
	return slices.ContainsFunc(pages, func(p string) bool { return weburl.Domain(weburl.Host(p)) == d })
}

// belowFound reports whether u is one of the pages or lies in the directory of
// one.
func belowFound(u string, found []string) bool {
	ps := pages{}
	for _, p := range found {
		ps.add(p)
	}
	return ps.over(u)
}

// pages are homepages and the directories that are theirs.
type pages map[string]bool

func (ps pages) add(u string) {
	c, err := weburl.Canonical("", u)
	if err != nil {
		return
	}
	k := weburl.Key(c)
	ps[k] = true
	// The root of a host that many share is nobody's directory.
	if dir := k[:strings.LastIndexByte(k, '/')+1]; strings.Count(dir, "/") > 1 {
		ps[dir] = true
	}
}

// over reports whether a canonical address is one of the pages or lies in the
// directory of one.
func (ps pages) over(u string) bool {
	key := weburl.Key(u)
	if ps[key] {
		return true
	}
	for i := range len(key) {
		if key[i] == '/' && ps[key[:i+1]] {
			return true
		}
	}
	return false
}
