package homepage

import (
	"slices"
	"strings"

	"gleaner/internal/web/weburl"
)

// aloneTopic is the least share of the words of an author's titles on a page for which
// only the name is evidence. It was chosen among .15, .25, .3 and .4 on the generated webs
// that the model was trained on, for authors with poor metadata.
const aloneTopic = 0.3

// certainByName reports whether a page is its owner's by name alone. It is the root of a
// personal address with the full name as its title. A directory lists it, or it looks
// like a researcher's and has the full name in its address. The crawl shows whether the
// owner's papers are there.
func certainByName(f map[string]float64) bool {
	own := f[fRoot] >= 1 && f[fUser] > 0 && f[fNameTitle] >= 1 && f[fOther] == 0 && f[fRival] == 0
	return own && (f[fListed] >= 1 || f[fNameURL] >= 1 && f[fResearch] >= 0.5 && f[fDocuments] > 0)
}

// tiedToPapers reports whether a page has its owner's name as its title, shows a paper of theirs
// and documents, and is of no other kind. It need not be a root: on some sites a script
// makes every page. Headings do not count, since they may name the authors of a paper.
func tiedToPapers(f map[string]float64) bool {
	if f[fNameTitle] < nameLoose || f[fTitles] == 0 || f[fDocuments] == 0 || f[fOther] > 0 || f[fPortal] > 0 {
		return false
	}
	for name, v := range f {
		if v > 0 && strings.HasPrefix(name, "kind_") {
			return false
		}
	}
	return true
}

// onlyNamed reports whether a page is the only one found with its owner's name. It is the root
// of a personal address with the full name as its title, has documents and is about the
// topic of the papers. The crawl shows whether the owner's papers are there.
func (cs *candidates) onlyNamed(s *site) bool {
	f := s.c.Features
	if f[fRoot] < 1 || f[fUser] == 0 || max(f[fNameTitle], f[fNameHeading]) < 1 || f[fOther] > 0 || f[fRival] > 0 || f[fDocuments] == 0 || f[fTopic] < aloneTopic {
		return false
	}
	return !slices.ContainsFunc(cs.sites, func(o *site) bool {
		g := o.c.Features
		return o != s && g[fNameTitle] >= nameLoose && g[fOther] == 0 && g[fPortal] < 0.5 && g["kind_news"] == 0 && g[fTopic] >= f[fTopic]/2 &&
			(weburl.Host(o.c.URL) != weburl.Host(s.c.URL) || weburl.Above(o.c.URL) != weburl.Above(s.c.URL) && !parentOf(s.c.URL, o.c.URL))
	})
}
