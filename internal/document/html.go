package document

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
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
	title, body := htmlText(p)
	t.Title = title
	t.Pages = []string{body}
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

// htmlText returns title and text; block elements start new lines.
func htmlText(p Part) (title, body string) {
	r, err := charset.NewReader(strings.NewReader(string(p.Body)), p.MediaType)
	if err != nil {
		r = strings.NewReader(string(p.Body))
	}
	z := html.NewTokenizer(r)
	z.SetMaxBuf(8 << 20)
	var b, tt strings.Builder
	skip, inTitle := 0, false
	for {
		tok := z.Next()
		if tok == html.ErrorToken || b.Len() > mostText {
			return strings.Join(strings.Fields(tt.String()), " "), tidy(b.String())
		}
		name, _ := z.TagName()
		a := atom.Lookup(name)
		switch tok {
		case html.StartTagToken:
			skip += boolInt(a == atom.Script || a == atom.Style)
			inTitle = inTitle || a == atom.Title
			breakLine(&b, a)
		case html.EndTagToken:
			skip = max(0, skip-boolInt(a == atom.Script || a == atom.Style))
			inTitle = inTitle && a != atom.Title
			breakLine(&b, a)
		case html.SelfClosingTagToken:
			breakLine(&b, a)
		case html.TextToken:
			switch {
			case inTitle:
				tt.WriteString(html.UnescapeString(string(z.Raw())))
			case skip == 0:
				b.WriteString(html.UnescapeString(string(z.Raw())))
			}
		}
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func breakLine(b *strings.Builder, a atom.Atom) {
	switch a {
	case atom.P, atom.Div, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Li, atom.Tr,
		atom.Br, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Table, atom.Ul, atom.Ol,
		atom.Dt, atom.Dd, atom.Blockquote, atom.Pre, atom.Figure, atom.Figcaption, atom.Hr:
		b.WriteByte('\n')
	}
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
