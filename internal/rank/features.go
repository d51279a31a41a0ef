package rank

import (
	"strconv"
	"strings"

	"gleaner/internal/web/page"
)

// Places of a concept in or around a link.
const (
	inAnchor = iota
	inName
	inDirs
	inContext
	inHeading
	inParent
	places
)

var placeNames = [places]string{"anchor", "name", "dirs", "context", "heading", "parent"}

// Shared traits, beside the concepts: properties of a link that mean the same on every site.
const (
	traitBias = iota
	traitPS
	traitCompressed
	traitOtherType // a document that is neither PDF nor PostScript
	traitNoAnchor
	traitShortAnchor
	traitTitleAnchor // an anchor that reads like a title
	traitLongContext
	traitYearContext
	traitYearName
	traitManyCommas // authors and venue, separated by commas
	traitQuoted
	traitLongName
	traitHyphens
	traitDigitsName
	traitTilde
	traitTopLevel // in the root directory of the host
	traitDeepPath
	traitSlash
	traitHTML
	traitQuery
	traitBelow   // under the parent's directory
	traitBeside  // in the parent's directory
	traitAbove   // in a directory above the parent's
	traitDepth01 // one hop from the seed
	traitDepth2
	traitDepth3
	traitFrame
	traitRedirect
	traitCitation
	traitAlternate
	traitSitemap
	traitScript
	traitSeed
	traitNav
	traitList
	traitTable
	traitEarly // among the first ten links of its page
	traitOffSite
	traitWanted
	traitSameStem // named like its parent, but for the type
	traits
)

var traitNames = [traits]string{"bias", "ps", "compressed", "other-type", "no-anchor", "short-anchor", "title-anchor",
	"long-context", "year-context", "year-name", "commas", "quoted", "long-name", "hyphens", "digits-name", "tilde",
	"top-level", "deep-path", "slash", "html", "query", "below", "beside", "above", "depth-1", "depth-2", "depth-3",
	"frame", "redirect", "citation", "alternate", "sitemap", "script", "seed", "nav", "list", "table", "early",
	"off-site", "wanted", "same-stem"}

// fullContext is the length in bytes up to which the text around a link has full weight. Longer
// text is prose, which mentions many concepts by chance.
const fullContext = 300

// siteSlots is the number of hash slots for features of one site: directories, words of names,
// arms, parents.
const siteSlots = 1 << 12

// feature is one coordinate of a link. Indices below extractor.shared are shared traits, others
// are slots of the site.
type feature struct {
	index int32
	value float32
}

// extractor turns links into features.
type extractor struct {
	of     *Lists
	lex    *lexicon
	shared int // number of shared features
	named  []string
}

func newExtractor(l *Lists) (*extractor, error) {
	lex, err := newLexicon(*l)
	if err != nil {
		return nil, err
	}
	x := &extractor{of: l, lex: lex, shared: traits + places*len(lex.names)}
	x.named = x.names()
	return x, nil
}

// names returns the names of the shared features in the order of their indices.
func (x *extractor) names() []string {
	out := append(make([]string, 0, x.shared), traitNames[:]...)
	for p := range places {
		for _, n := range x.lex.names {
			out = append(out, placeNames[p]+":"+n)
		}
	}
	return out
}

// extract appends the features of a candidate in an arm to out: first shared ones, from index
// like on those of similar links on the site, and from index own on those of this link.
func (x *extractor) extract(c *page.Candidate, arm int, out []feature) (fs []feature, like, own int) {
	a, p := splitAddress(c.Link.URL), splitAddress(c.Parent)
	name, dirs := a.label()
	trait := func(t int, on bool) {
		if on {
			out = append(out, feature{int32(t), 1})
		}
	}
	trait(traitBias, true)
	x.textTraits(c, name, trait)
	x.addressTraits(c, a, p, trait)
	x.placeTraits(c, trait)
	if c.Wanted > 0 {
		out = append(out, feature{traitWanted, float32(max(0, 2*c.Wanted-1))})
	}
	parentName := ""
	if c.Parent != "" {
		parentName = p.dir + p.stem
	}
	for place, text := range [places]string{c.Link.Anchor, name, dirs, c.Link.Context, c.Link.Heading, parentName} {
		m, value := x.lex.scan(text), float32(1)
		if place == inContext && len(text) > fullContext {
			value = float32(fullContext) / float32(len(text))
		}
		for bit := 0; m != 0; bit, m = bit+1, m>>1 {
			if m&1 != 0 {
				out = append(out, feature{int32(traits + place*len(x.lex.names) + bit), value})
			}
		}
	}
	like = len(out)
	out, own = x.site(c, a, arm, name, out)
	return out, like, own
}

func (x *extractor) textTraits(c *page.Candidate, name string, trait func(int, bool)) {
	anchor, ctx := c.Link.Anchor, c.Link.Context
	spaces := strings.Count(anchor, " ")
	trait(traitNoAnchor, anchor == "")
	trait(traitShortAnchor, anchor != "" && spaces < 2)
	trait(traitTitleAnchor, spaces >= 3 && len(anchor) >= 25)
	trait(traitLongContext, len(ctx) >= 90)
	trait(traitYearContext, hasYear(ctx))
	trait(traitYearName, hasYear(name))
	trait(traitManyCommas, strings.Count(ctx, ",") >= 3)
	trait(traitQuoted, hasQuotes(ctx))
	trait(traitLongName, len(name) >= 24)
	trait(traitHyphens, strings.Count(name, "-")+strings.Count(name, "_") >= 2)
	trait(traitDigitsName, strings.ContainsAny(name, "0123456789"))
}

func hasQuotes(s string) bool {
	return strings.ContainsAny(s, `"“”«»`)
}

func (x *extractor) addressTraits(c *page.Candidate, a, p address, trait func(int, bool)) {
	if c.Document {
		inner, _, packed := strings.Cut(a.ext, ".")
		trait(traitPS, inner == "ps" || inner == "eps")
		trait(traitCompressed, packed)
		trait(traitOtherType, inner != "ps" && inner != "eps" && inner != "pdf")
	} else {
		trait(traitSlash, a.name == "")
		trait(traitHTML, strings.HasPrefix(a.ext, "htm"))
	}
	trait(traitQuery, a.query != "")
	trait(traitTilde, strings.Contains(a.dir, "~"))
	trait(traitTopLevel, a.dir == "/")
	trait(traitDeepPath, strings.Count(a.dir, "/") >= 5)
	if p.dir != "" && a.host == p.host {
		trait(traitBelow, len(a.dir) > len(p.dir) && strings.HasPrefix(a.dir, p.dir))
		trait(traitBeside, a.dir == p.dir)
		trait(traitAbove, len(a.dir) < len(p.dir) && strings.HasPrefix(p.dir, a.dir))
	}
	trait(traitSameStem, len(p.stem) > 2 && strings.EqualFold(a.stem, p.stem))
}

func (x *extractor) placeTraits(c *page.Candidate, trait func(int, bool)) {
	trait(traitDepth01, c.Depth <= 1)
	trait(traitDepth2, c.Depth == 2)
	trait(traitDepth3, c.Depth >= 3)
	switch c.Link.Source {
	case page.SourceFrame:
		trait(traitFrame, true)
	case page.SourceRefresh, page.SourceRedirect:
		trait(traitRedirect, true)
	case page.SourceCitation:
		trait(traitCitation, true)
	case page.SourceAlternate:
		trait(traitAlternate, true)
	case page.SourceSitemap:
		trait(traitSitemap, true)
	case page.SourceScript:
		trait(traitScript, true)
	case page.SourceSeed:
		trait(traitSeed, true)
	}
	tp := c.Link.TagPath
	trait(traitNav, strings.Contains(tp, "nav") || strings.Contains(tp, "menu") || strings.Contains(tp, "header") || strings.Contains(tp, "footer") || strings.Contains(tp, "sidebar"))
	trait(traitList, strings.Contains(tp, "li") && (strings.Contains(tp, "ul") || strings.Contains(tp, "ol")))
	trait(traitTable, strings.Contains(tp, "td"))
	trait(traitEarly, c.Link.Position < 10)
	trait(traitOffSite, c.OffSite)
}

// site appends the features that have a meaning only on this site. Those from index own on belong
// to few links.
func (x *extractor) site(c *page.Candidate, a address, arm int, name string, out []feature) (fs []feature, own int) {
	kind := "p"
	if c.Document {
		kind = "d"
	}
	put := func(class, key string, value float32) {
		out = append(out, feature{int32(x.shared) + slotOf(kind, class, key), value})
	}
	put("arm", strconv.Itoa(arm), 0.7)
	put("group", strconv.Itoa(c.Mark), 1.2)
	put("type", a.ext, 0.7)
	for d, n := a.dir, 0; d != "" && n < 4; n++ {
		put("dir", d, 0.7)
		d = d[:strings.LastIndexByte(d[:len(d)-1], '/')+1]
		if len(d) <= 1 {
			break
		}
	}
	own = len(out)
	put("parent", c.Parent, 1)
	put("shape", shapeOf(name), 0.7)
	if c.Link.Heading != "" {
		put("heading", c.Link.Heading, 0.7)
	}
	eachWord(name, 8, func(w string) { put("name", w, 0.6) })
	eachWord(c.Link.Anchor, 6, func(w string) { put("anchor", w, 0.5) })
	return out, own
}

func slotOf(kind, class, key string) int32 {
	h := hashSeed
	for _, s := range [3]string{kind, class, key} {
		for i := 0; i < len(s); i++ {
			h = (h ^ uint32(s[i])) * hashPrime
		}
		h = (h ^ 0xff) * hashPrime
	}
	h ^= h >> 15
	return int32(h & (siteSlots - 1))
}
