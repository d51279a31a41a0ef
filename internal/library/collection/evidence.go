package collection

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/match"
	"gleaner/internal/record/store"
)

// matches returns the wanted papers that a document may be. Each place may name it differently;
// the surest match wins, so that the order of places has no effect.
func matches(index *match.Index, d store.Document, places []store.Location) []store.Found {
	best := map[string]match.Match{}
	for _, ev := range allEvidence(d, places) {
		for _, m := range index.Document(ev) {
			if had, ok := best[m.Paper.Key]; !ok || surer(m, had) {
				best[m.Paper.Key] = m
			}
		}
	}
	out := make([]store.Found, 0, len(best))
	for _, m := range best {
		out = append(out, store.Found{Paper: m.Paper.Key, Verdict: string(m.Verdict), Score: m.Score, Form: m.Form, Reasons: m.Reasons})
	}
	slices.SortFunc(out, func(a, b store.Found) int { return strings.Compare(a.Paper, b.Paper) })
	return out
}

// PapersIn returns the keys of the papers in an index that a document surely is. It writes
// nothing.
func PapersIn(index *match.Index, r store.Readable) []string {
	return Judgement{Matched: matches(index, r.Document, r.Places)}.Papers()
}

// signs returns the signs of a document with the names from all of its places.
func signs(d store.Document, places []store.Location) []int32 {
	return match.Signs(allEvidence(d, places)...)
}

// allEvidence returns the evidence from a document's places without duplicates.
func allEvidence(d store.Document, places []store.Location) []match.Evidence {
	if len(places) == 0 {
		places = []store.Location{{}}
	}
	var all []match.Evidence
	for _, l := range places[:min(len(places), store.MostPlaces)] {
		if ev := evidence(d, l); !slices.Contains(all, ev) {
			all = append(all, ev)
		}
	}
	return all
}

func surer(a, b match.Match) bool {
	if a.Taken() != b.Taken() {
		return a.Taken()
	}
	if ra, rb := sureness(a.Verdict), sureness(b.Verdict); ra != rb {
		return ra < rb
	}
	return a.Score > b.Score
}

func sureness(v match.Verdict) int {
	return slices.Index([]match.Verdict{match.Exact, match.Strong, match.Ambiguous, match.Different}, v)
}

// taken reports whether a person's verdict or match.Match.Taken assigns the document to the
// paper.
func taken(f store.Found) bool {
	return f.Settled == "yes" || f.Settled == "" && match.Match{Verdict: match.Verdict(f.Verdict), Form: f.Form}.Taken()
}

// evidence returns the evidence from one place of a document.
func evidence(d store.Document, l store.Location) match.Evidence {
	ev := match.Evidence{FirstPages: d.FirstPages, FileName: fileName(l),
		MetaTitle: cmp.Or(l.MetaTitle, d.MetaTitle), // a landing page is more reliable than the file's metadata
		Anchor:    l.Anchor, ArXiv: gleaner.LabelledArXiv(l.URL),
		Owners: strings.Join(l.Owners, "\n")}
	if doi := gleaner.DOIInURL(l.URL); publishes(l.URL) {
		ev.DOI = doi
	} else {
		ev.URLDOI = doi
	}
	if publishes(l.Parent) {
		ev.DOI = cmp.Or(l.DOI, ev.DOI)
	} else {
		ev.PageDOI = l.DOI
	}
	return ev
}

// publishers are the domains trusted for the identity of a work in their URLs or in files linked
// from their pages: the resolver's, and those of publishers whose URLs hold the DOIs of their own
// works.
var publishers = []string{"doi.org", "acm.org", "springer.com", "springeropen.com", "biomedcentral.com", "ieee.org", "computer.org", "wiley.com",
	"tandfonline.com", "sagepub.com", "siam.org", "acs.org", "iop.org", "science.org", "nature.com", "oup.com", "cambridge.org", "dagstuhl.de",
	"sciencedirect.com", "emerald.com", "degruyter.com", "worldscientific.com", "mdpi.com", "frontiersin.org", "plos.org", "hindawi.com",
	"iospress.nl", "iospress.com", "ams.org", "aps.org", "aip.org", "asme.org", "rsc.org", "royalsocietypublishing.org", "projecteuclid.org",
	"informs.org", "copernicus.org", "pnas.org", "direct.mit.edu", "annualreviews.org", "ascelibrary.org", "spiedigitallibrary.org"}

func publishes(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return slices.ContainsFunc(publishers, func(p string) bool { return host == p || strings.HasSuffix(host, "."+p) })
}

func fileName(l store.Location) string {
	return path.Base(cmp.Or(l.Member, l.URL))
}
