package rank

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// About reports whether a page is about the subject: its title or its keywords
// have one of the words (Chen, CINDI robot, Concordia 2008). It is what there is
// without CINDI's classifiers.
func (l Lists) About(p *page.Page) bool {
	return prefixMatch(words(p.Title), l.MetaKeywords) != "" || prefixMatch(words(p.Meta["keywords"]), l.MetaKeywords) != ""
}

// Pruned names what of a link's words keeps it from being followed: of a page
// about the subject one that leads back or out of it, of any other page the lack of
// one that leads there. Departments are always followed.
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
	said := " " + strings.Join(text, " ") + " "
	for _, w := range l.PruningAnchors {
		if strings.Contains(said, " "+w+" ") {
			return w, true
		}
	}
	return "", false
}

// Department reports whether a part of the host's name or a directory is one that
// departments have.
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
