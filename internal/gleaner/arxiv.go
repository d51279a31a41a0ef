package gleaner

import (
	"slices"
	"strings"
)

// ParseArXiv reads an arXiv identifier: bare, labelled, or in an address. It
// returns "" for anything else.
//
// arXiv's scheme has two forms: since April 2007 YYMM.NNNN, with five digits
// behind the point since 2015, and before archive/YYMMNNN. The normal form is in
// small letters, without the version (an identifier without one is the work) and
// without the subject class, which never told two works apart: math.GT/0309136
// is math/0309136.
func ParseArXiv(s string) string {
	s = strings.TrimSpace(s)
	if id := LabelledArXiv(s); id != "" {
		return id
	}
	return arXivID(s)
}

// LabelledArXiv is ParseArXiv for what may be anything: it reads only what says
// that it is of arXiv, "arXiv:…", a page or file of arxiv.org, or a DOI that arXiv
// gave.
func LabelledArXiv(s string) string {
	s = strings.TrimSpace(s)
	if rest, ok := cutPrefixFold(s, "arxiv:"); ok {
		rest, _, _ = strings.Cut(strings.TrimSpace(rest), " ") // "[cs.LG] 6 Sep 2016"
		return arXivID(rest)
	}
	if rest, ok := strings.CutPrefix(ParseDOI(s), "10.48550/arxiv."); ok {
		return arXivID(rest)
	}
	host, path := splitAddress(s)
	if host != "arxiv.org" && !strings.HasSuffix(host, ".arxiv.org") {
		return ""
	}
	kind, id, _ := strings.Cut(path, "/")
	if !slices.Contains([]string{"abs", "pdf", "ps", "html", "e-print", "format", "src"}, kind) {
		return ""
	}
	id = strings.TrimSuffix(id, "/")
	return arXivID(strings.TrimSuffix(strings.TrimSuffix(id, ".pdf"), ".ps.gz"))
}

// archives are those of the scheme before April 2007; no other will ever be.
var archives = []string{"acc-phys", "adap-org", "alg-geom", "ao-sci", "astro-ph", "atom-ph", "bayes-an", "chao-dyn", "chem-ph", "cmp-lg",
	"comp-gas", "cond-mat", "cs", "dg-ga", "funct-an", "gr-qc", "hep-ex", "hep-lat", "hep-ph", "hep-th", "math", "math-ph", "mtrl-th", "nlin",
	"nucl-ex", "nucl-th", "patt-sol", "physics", "plasm-ph", "q-alg", "q-bio", "quant-ph", "solv-int", "supr-con"}

func arXivID(s string) string {
	s = lowerASCII(s)
	if i := strings.LastIndexByte(s, 'v'); i > 0 && allDigits(s[i+1:]) {
		s = s[:i]
	}
	if archive, number, old := strings.Cut(s, "/"); old {
		archive, _, _ = strings.Cut(archive, ".")
		if slices.Contains(archives, archive) && len(number) == 7 && allDigits(number) && isMonth(number[2:4]) {
			return archive + "/" + number
		}
		return ""
	}
	month, number, _ := strings.Cut(s, ".")
	if len(month) == 4 && allDigits(month) && isMonth(month[2:]) && (len(number) == 4 || len(number) == 5) && allDigits(number) {
		return s
	}
	return ""
}

func isMonth(s string) bool { return s >= "01" && s <= "12" }
