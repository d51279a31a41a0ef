package homepage

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"gleaner/internal/text"
	"gleaner/internal/web/page"
)

// kindOf reports whether path or title show that the page is of a kind that is not a
// homepage.
func kindOf(u *url.URL, pg *page.Page, kind string) bool {
	segs := strings.Split(strings.Trim(strings.ToLower(u.Path), "/"), "/")
	last := segs[len(segs)-1]
	last = strings.TrimSuffix(last, path.Ext(last))
	if kind == "inner" && strings.Trim(u.Path, "/~") != "" && !strings.HasPrefix(last, "~") && (listsPapers(strings.ReplaceAll(last, "_", " ")) || titleSaysPapers(pg.Title)) {
		return true
	}
	for _, w := range kinds.Path[kind] {
		if last == w {
			return true
		}
		// A directory's name is the kind of its pages, except that homepages are below "people".
		if kind != "list" && kind != "inner" {
			if slices.Contains(segs[:len(segs)-1], w) {
				return true
			}
		}
	}
	return (kind == "course" || kind == "event" || kind == "list" || kind == "project") && titleHas(pg, kind)
}

// titleSaysPapers reports whether a part of the title is nothing but
// "Publications" or its like.
func titleSaysPapers(title string) bool {
	parts := strings.FieldsFunc(title, func(r rune) bool { return strings.ContainsRune("|·•:–—-", r) })
	return slices.ContainsFunc(parts, func(seg string) bool {
		ws := text.Words(seg)
		return len(ws) > 0 && len(ws) <= 2 && namesPublications(seg)
	})
}

func titleHas(pg *page.Page, kind string) bool {
	t := " " + strings.Join(text.Words(pg.Title), " ") + " "
	return slices.ContainsFunc(kinds.Title[kind], func(w string) bool { return strings.Contains(t, " "+w+" ") })
}
