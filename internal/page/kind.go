package page

import (
	"strings"

	"gleaner/internal/weburl"
)

// Kind is what sort of page a page seems to be. It is a feature for ranking,
// not a verdict.
type Kind string

// The kinds.
const (
	KindHomepage     Kind = "homepage"     // of a person
	KindPublications Kind = "publications" // a list of papers
	KindCourse       Kind = "course"       // lectures, assignments
	KindBlog         Kind = "blog"         // posts by date
	KindCalendar     Kind = "calendar"     // events
	KindPeople       Kind = "people-list"  // members of a group or a department
	KindLanding      Kind = "landing"      // one paper, with its document
	KindOther        Kind = "other"
)

// kindRule gives a kind points for words in a page's path, title and headings.
type kindRule struct {
	kind   Kind
	path   []string // segments of the path without extension
	phrase []string // in title or heading
}

// kindRules are the words of each kind. A word in the path counts 2, in the
// title 3, in a heading 1.
var kindRules = []kindRule{
	{KindPublications,
		[]string{"publications", "publication", "pubs", "pub", "papers", "publist", "bibliography", "publikationen", "proceedings", "articles", "preprints"},
		[]string{"publications", "papers", "selected papers", "publikationen", "preprints", "proceedings", "journal articles", "refereed", "bibliography", "accepted papers"}},
	{KindCourse,
		[]string{"teaching", "course", "courses", "lecture", "lectures", "class", "classes", "homework", "assignments", "syllabus", "labs", "lehre"},
		[]string{"syllabus", "homework", "assignments", "lecture notes", "course", "lectures", "office hours", "exam", "prerequisites", "grading", "vorlesung"}},
	{KindBlog,
		[]string{"blog", "blogs", "posts", "post", "weblog", "archives", "tag", "tags", "category"},
		[]string{"blog", "posts", "recent posts", "comments", "weblog", "archives"}},
	{KindCalendar,
		[]string{"calendar", "events", "event", "agenda", "schedule", "kalender"},
		[]string{"calendar", "events", "upcoming events", "agenda", "schedule", "veranstaltungen"}},
	{KindPeople,
		[]string{"people", "faculty", "staff", "members", "team", "students", "alumni", "directory", "mitarbeiter"},
		[]string{"people", "faculty", "members", "our team", "staff", "directory", "phd students", "alumni", "mitarbeiter"}},
	{KindHomepage,
		[]string{"home", "homepage"},
		[]string{"home page", "homepage", "personal page", "personal website", "about me", "curriculum vitae", "research interests", "biography"}},
}

// KindOf tells what sort of page p is, by the words of its URL, title and
// headings (kindRules), and by its form: a page whose meta data describe one
// paper, or that has a heading "Abstract" and up to three documents, is a
// landing page; the index page of a user's directory is a homepage
// unless its words say otherwise. Under 2 points a page is KindOther.
func KindOf(p *Page) Kind {
	if p.Meta["citation_title"] != "" || p.Meta["eprints.title"] != "" || cited(p) == 1 || hasAbstract(p) {
		return KindLanding
	}
	segments := pathWords(p.URL)
	title := strings.ToLower(p.Title)
	best, most := KindOther, 1
	for _, r := range kindRules {
		n := 0
		for i, s := range segments {
			if oneOf(s, r.path) {
				n++
				if i == len(segments)-1 {
					n++
				}
			}
		}
		if hasPhrase(title, r.phrase) {
			n += 3
		}
		for i, h := range p.Headings {
			if i < 12 && hasPhrase(strings.ToLower(h), r.phrase) {
				n++
			}
		}
		if r.kind == KindHomepage && isUserRoot(p.URL) {
			n += 4
		}
		if n > most {
			best, most = r.kind, n
		}
	}
	return best
}

// cited counts the documents that a page names as its own.
func cited(p *Page) int {
	n := 0
	for i := range p.Links {
		if p.Links[i].Source == SourceCitation {
			n++
		}
	}
	return n
}

// hasAbstract says whether a page has the form of one paper's.
func hasAbstract(p *Page) bool {
	const most = 3
	headed := false
	for _, h := range p.Headings {
		headed = headed || strings.EqualFold(strings.Trim(h, " :."), "abstract")
	}
	if !headed {
		return false
	}
	seen := map[string]bool{}
	for i := range p.Links {
		if weburl.IsDocumentName(p.Links[i].URL) {
			seen[p.Links[i].URL] = true
		}
	}
	return len(seen) > 0 && len(seen) <= most
}

// pathWords are the segments of a URL's path, lower case, the last without its
// extension; index pages are left out.
func pathWords(canonical string) []string {
	_, path, _ := strings.Cut(weburl.Key(canonical), "/")
	path, _, _ = strings.Cut(strings.ToLower(path), "?")
	words := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	if n := len(words); n > 0 {
		if stem, _, ok := strings.Cut(words[n-1], "."); ok && stem != "" {
			words[n-1] = stem
		}
	}
	return words
}

// isUserRoot says whether a URL is the first page of a user's directory or of a
// host that names one person's site.
func isUserRoot(canonical string) bool {
	key := weburl.Key(canonical)
	_, path, _ := strings.Cut(key, "/")
	prefix := weburl.PathPrefix(canonical)
	return strings.Contains(prefix, "~") && strings.HasPrefix("/"+path, strings.TrimSuffix(prefix, "/")) &&
		len(path)+1 <= len(prefix)
}

// oneOf says whether a list has a word.
func oneOf(s string, list []string) bool {
	for _, w := range list {
		if s == w {
			return true
		}
	}
	return false
}

// hasPhrase says whether s has one of some phrases as whole words.
func hasPhrase(s string, phrases []string) bool {
	for _, p := range phrases {
		for from := 0; ; {
			i := strings.Index(s[from:], p)
			if i < 0 {
				break
			}
			i += from
			end := i + len(p)
			if (i == 0 || !isLetter(s[i-1])) && (end == len(s) || !isLetter(s[end])) {
				return true
			}
			from = end
		}
	}
	return false
}
