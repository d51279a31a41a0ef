package document

import (
	"regexp"
	"strings"

	webpage "gleaner/internal/web/page"
)

// sectionWords are the headings by which a paper in HTML is known (Chen 2008,
// CINDI Robot: "HTML papers recognised by their section words").
var sectionWords = regexp.MustCompile(`(?im)^\W*(?:[0-9ivx]+[.)]?\s+)?(abstract|introduction|related work|background|methods?|methodology|results|discussion|conclusions?|acknowledge?ments?|references|bibliography)\W*$`)

var (
	wallWords  = regexp.MustCompile(`(?i)\b(log ?in|sign ?in|password|captcha|subscri(be|ption)|purchase|institutional access|access denied|are you (a )?(human|robot)|verify you are|enable (cookies|javascript)|accept (all )?cookies|cookie (consent|policy)|rent this article|buy (this )?(article|pdf))\b`)
	errorWords = regexp.MustCompile(`(?i)\b(404|not found|page (does not|doesn't) exist|no longer (available|exists)|error 5\d\d|internal server error|bad gateway|service unavailable|file (is )?missing|moved permanently|403 forbidden|410 gone)\b`)
)

// leastSections is how many different section words make a web page a paper.
const leastSections = 3

// Sectioned reports whether a text has the sections of a paper.
func (t *Text) Sectioned() bool {
	found := map[string]bool{}
	for _, page := range t.Pages {
		for _, m := range sectionWords.FindAllStringSubmatch(page, -1) {
			found[strings.ToLower(m[1])] = true
		}
	}
	return len(found) >= leastSections && (found["references"] || found["bibliography"] || found["abstract"])
}

// readHTML takes the text of a web page and says whether it is a paper, a wall,
// an error page, or none of them.
func readHTML(p Part, t *Text) {
	t.Reader, t.PageCount = "html", 1
	title, body := webpage.Lines(p.MediaType, p.Body, mostText)
	title, body = clean(title), clean(body)
	t.Title, t.Pages = title, []string{body}
	t.First = plainLayout(t.Pages, 0, 0)
	words := t.Words()
	// A wall and an error page are short; a paper that speaks of passwords is not.
	short := words < 800
	switch {
	case words > 500 && t.Sectioned():
		t.end(OK, "")
	case short && errorWords.MatchString(title+"\n"+body):
		t.end(ErrorPage, "a web page: "+firstLine(title))
	case short && wallWords.MatchString(title+"\n"+body):
		t.end(Wall, "a web page: "+firstLine(title))
	case promisesDocument(p):
		t.end(Wall, "a web page in the place of a document: "+firstLine(title))
	default:
		t.end(NotADocument, "a web page without a paper's sections")
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tidy closes up blanks within lines and drops empty ones.
func tidy(s string) string {
	var out []string
	for line := range strings.Lines(clean(s)) {
		if l := strings.Join(strings.Fields(line), " "); l != "" {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// readPlain takes a plain text as it is; form feeds part its pages.
func readPlain(p Part, t *Text) {
	t.Reader = "text"
	t.Pages = strings.Split(clean(string(head(p.Body, mostText))), "\f")
	t.PageCount, t.First = len(t.Pages), plainLayout(t.Pages, 0, 0)
	words := t.Words()
	switch short := words < 300 && promisesDocument(p); {
	case words < 6:
		t.end(EmptyFile, "a text without words")
	case short && errorWords.MatchString(t.Pages[0]):
		t.end(ErrorPage, "a message in the place of a document: "+firstLine(t.Pages[0]))
	case short && wallWords.MatchString(t.Pages[0]):
		t.end(Wall, "a message in the place of a document: "+firstLine(t.Pages[0]))
	default:
		t.end(OK, "")
	}
}
