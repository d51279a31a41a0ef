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

// table1 is the homepage filter of Zhuang et al. (JCDL 2005, Table 1) and
// nothing else: it sees addresses (U) and titles (T) of the first ten results
// for a name (N) and a venue, never a page.
//
//  1. U is dropped where U or T shows a publisher or a digital library.
//  2. U is dropped where it names a file other than a web page.
//  3. Namesakes: U is dropped where it lies below a homepage that is found
//     already; a U in the domain of co-authors' homepages is preferred.
//  4. Priority is high if T contains N and a word such as "homepage", medium if
//     it contains such a word without N, else low.
//
// It returns all candidates in the order of the results; the best of them, by
// priority, then co-authors' domain, then rank, is marked as kept.
func table1(s Subject, results []evidence.Result) []evidence.Candidate {
	out := make([]evidence.Candidate, 0, table1Results)
	for _, r := range results[:min(len(results), table1Results)] {
		out = append(out, table1Candidate(s, r))
	}
	best := -1
	for i, c := range out {
		if c.Priority == "" {
			continue
		}
		if best < 0 || table1Less(s, out[best], c) {
			best = i
		}
	}
	if best >= 0 {
		out[best].Kept = true
	}
	return out
}

func table1Candidate(s Subject, r evidence.Result) evidence.Candidate {
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
	case belowFound(canonical, s.CoAuthorHomepages):
		c.Rule = "below a homepage that is found already"
	default:
		c.Priority, c.Rule = table1Priority(s.Author.Name, r.Title)
		if inDomains(canonical, s.CoAuthorHomepages) {
			c.Rule += "; in a co-author's domain"
		}
	}
	return c
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

// table1Less reports whether b is better than a, which came before it.
func table1Less(s Subject, a, b evidence.Candidate) bool {
	order := map[string]int{Low: 1, Medium: 2, High: 3}
	if order[a.Priority] != order[b.Priority] {
		return order[b.Priority] > order[a.Priority]
	}
	return !inDomains(a.URL, s.CoAuthorHomepages) && inDomains(b.URL, s.CoAuthorHomepages)
}

// inDomains reports whether u is in the registrable domain of one of the pages.
func inDomains(u string, pages []string) bool {
	d := weburl.Domain(weburl.Host(u))
	return slices.ContainsFunc(pages, func(p string) bool { return weburl.Domain(weburl.Host(p)) == d })
}

// belowFound reports whether u is one of the pages or lies in the directory of
// one.
func belowFound(u string, pages []string) bool {
	key := weburl.Key(u)
	return slices.ContainsFunc(pages, func(p string) bool {
		c, err := weburl.Canonical("", p)
		if err != nil {
			return false
		}
		k := weburl.Key(c)
		if key == k {
			return true
		}
		dir := k[:strings.LastIndexByte(k, '/')+1]
		// The root of a host that many share is nobody's directory.
		if strings.Count(dir, "/") == 1 && dir != k {
			return false
		}
		return strings.HasPrefix(key, dir)
	})
}
