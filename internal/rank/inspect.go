package rank

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// About reports whether the title or keywords of a page have a word of the subject (Chen, CINDI
// robot, Concordia 2008). It stands in for CINDI's classifiers.
func (l Lists) About(p *page.Page) bool {
	return prefixMatch(words(p.Title), l.MetaKeywords) != "" || prefixMatch(words(p.Meta["keywords"]), l.MetaKeywords) != ""
}

// Pruned reports whether a link must not be followed, and why. On a page about the subject these
// are links with a word that leads away; on other pages, links without a word that leads to the
// subject. Links to departments are always followed.
func (l Lists) Pruned(about bool, link page.Link) (why string, pruned bool) {
	text := words(link.Anchor)
	if len(text) == 0 {
		text = words(lastOf(link.URL))
	}
	switch {
	case len(text) == 0 || l.Department(link.URL):
		return "", false
	case !about:
		return "none of the words that lead on", prefixMatch(text, l.ExtractingAnchors) == ""
	}
	joined := " " + strings.Join(text, " ") + " "
	for _, w := range l.PruningAnchors {
		if strings.Contains(joined, " "+w+" ") {
			return w, true
		}
	}
	return "", false
}

// Department reports whether a label of the host or a directory is a word of departments.
func (l Lists) Department(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	parts := append(strings.Split(weburl.Host(raw), "."), strings.Split(strings.ToLower(path.Dir(u.Path)), "/")...)
	return slices.ContainsFunc(parts, func(p string) bool { return p != "" && slices.Contains(l.DepartmentWords, p) })
}

func lastOf(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		return path.Base(u.Path)
	}
	return ""
}
