package page

import (
	"cmp"
	"regexp"
	"strings"

	"gleaner/internal/web/weburl"
)

const (
	maxNesting = 64 // of values; deeper ones count as their parent's
	maxOfWork  = 8  // addresses of one work: what has more is not a paper
)

// ReadScript reads JSON or JavaScript as a list of works. An object, a list or the
// arguments of a call are a work if they have a title; the addresses in them are the
// work's. Nothing is evaluated, and nothing is an error.
func ReadScript(src []byte) []Datum {
	r := &stateReader{src: src}
	r.run()
	return r.out
}

// work is a value that is open.
type work struct {
	opener             byte
	key                string // under which it stands
	title, names, year string
	phrase             string // a literal under no key that may be a title
	phrases            int
	first              int // of its addresses
}

// stateReader reads one script, from front to back.
type stateReader struct {
	src     []byte
	at      int
	last    byte   // the last byte that was no space
	key     string // of the next value
	open    []work
	deeper  int      // values that are open beyond maxNesting
	refs    []string // addresses whose work is open
	noRegex int      // no regular expression begins before it
	inner   bool     // the script is a literal of another
	out     []Datum
}

func (r *stateReader) run() {
	r.open = append(r.open, work{})
	for r.at < len(r.src) && len(r.out)+len(r.refs) < maxData {
		c := r.src[r.at]
		switch {
		case isSpace(c):
			r.at++
			continue
		case isQuote(c):
			r.value(r.literal(), true)
		case isWord(c):
			from := r.at
			for r.at < len(r.src) && isWord(r.src[r.at]) {
				r.at++
			}
			r.value(string(r.src[from:min(r.at, from+maxContext)]), false)
		case c == '{' || c == '[' || c == '(':
			r.begin(c)
		case c == '}' || c == ']' || c == ')':
			r.end(c)
		case c == '/':
			r.slash()
		default:
			if c == ',' || c == ';' {
				r.key = ""
			}
			r.at++
		}
		r.last = c
	}
	for len(r.open) > 0 {
		r.close()
	}
	for _, ref := range r.refs {
		r.out = append(r.out, Datum{Ref: ref})
	}
}

func isWord(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

func (r *stateReader) begin(c byte) {
	r.at++
	if len(r.open) >= maxNesting {
		r.deeper++
		return
	}
	key := r.key
	if parent := &r.open[len(r.open)-1]; key == "" && parent.opener == '[' {
		key = parent.key
	}
	r.open, r.key = append(r.open, work{opener: c, key: key, first: len(r.refs)}), ""
}

func (r *stateReader) end(c byte) {
	r.at++
	r.key = ""
	if r.deeper > 0 {
		r.deeper--
		return
	}
	// What was not understood may have left a few open.
	for n := len(r.open) - 1; n > max(0, len(r.open)-4); n-- {
		if strings.IndexByte("{}[]()", c) == strings.IndexByte("{}[]()", r.open[n].opener)+1 {
			for len(r.open) > n {
				r.close()
			}
			return
		}
	}
}

// close ends the innermost value. Its addresses get its title; without one they stay
// for the value around it, as do people and years.
func (r *stateReader) close() {
	n := len(r.open) - 1
	w := r.open[n]
	r.open = r.open[:n]
	title := w.title
	if title == "" && w.phrases == 1 {
		title = w.phrase
	}
	if n > 0 {
		switch parent := &r.open[n-1]; fieldOf(w.key) {
		case peopleField:
			parent.addName(cmp.Or(w.names, title))
		case yearField:
			parent.year = cmp.Or(parent.year, w.year)
		case titleField:
			parent.title = cmp.Or(parent.title, title)
		}
	}
	refs := r.refs[w.first:]
	if title == "" || len(refs) == 0 {
		return
	}
	d := Described(title, w.names, w.year)
	if len(refs) > maxOfWork {
		d = Datum{}
	}
	for _, d.Ref = range refs {
		r.out = append(r.out, d)
	}
	r.refs = r.refs[:w.first]
}

// Described is a work of which a title is known, and perhaps people and a year.
func Described(title, people, year string) Datum {
	said := title
	for _, s := range []string{people, year} {
		if s != "" {
			said += ". " + s
		}
	}
	return Datum{Title: cutText(title, maxAnchor), Said: cutText(said, maxContext)}
}

func (w *work) addName(s string) {
	switch {
	case s == "" || len(w.names)+len(s) > maxContext:
	case w.names == "":
		w.names = s
	default:
		w.names += ", " + s
	}
}

// field is what a key says of its value.
type field int

const (
	otherField field = iota
	titleField
	labelField // a title, if it is long enough for one
	peopleField
	yearField
	addressField
)

func fieldOf(key string) field {
	if len(key) > 24 {
		return otherField
	}
	switch strings.ToLower(key) {
	case "title", "headline", "papertitle":
		return titleField
	case "name", "children":
		return labelField
	case "author", "authors", "creator", "given", "family":
		return peopleField
	case "year", "date", "issued", "date-parts", "datepublished", "published":
		return yearField
	case "url", "href", "link", "links", "path", "permalink", "pdf", "paper", "to", "file",
		"uri", "download", "@id", "item", "preprint", "fulltext":
		return addressField
	}
	return otherField
}

// value takes a literal or a word: a key, where a colon follows it in an object, or a
// value of the one before.
func (r *stateReader) value(s string, quoted bool) {
	w := &r.open[len(r.open)-1]
	if next := r.next(); next == ':' && w.opener == '{' {
		r.key = s
		return
	}
	key := r.key
	if key == "" && w.opener == '[' || w.opener == '{' && fieldOf(w.key) == titleField {
		key = w.key // of each value of a list; a title may come in several forms
	}
	r.key = ""
	switch of := fieldOf(key); {
	case of == yearField:
		w.year = cmp.Or(w.year, yearIn(s))
	case !quoted:
	case !r.inner && len(s) > len(`{"a":"b"}`) && strings.Contains(s, `{"`):
		r.nested(s)
	case isReference(s, of):
		r.refs = append(r.refs, s)
	case of == peopleField || of == labelField && fieldOf(w.key) == peopleField:
		w.addName(words(s))
	case of == titleField && !isLabel(s):
		w.title = cmp.Or(words(s), w.title)
	case of == labelField && isPhrase(s):
		w.title = cmp.Or(w.title, words(s))
	case key == "" && isPhrase(s):
		w.phrases, w.phrase = w.phrases+1, words(s)
	}
}

// nested reads a literal that is JSON itself.
func (r *stateReader) nested(s string) {
	in := &stateReader{src: []byte(s), inner: true}
	in.run()
	r.out = append(r.out, in.out[:min(len(in.out), max(0, maxData-len(r.out)))]...)
}

// next is the next byte that is no space; 0 at the end.
func (r *stateReader) next() byte {
	for i := r.at; i < len(r.src); i++ {
		if !isSpace(r.src[i]) {
			return r.src[i]
		}
	}
	return 0
}

// isReference reports whether a literal names a document or a file of data, or under a
// key for addresses a page.
func isReference(s string, of field) bool {
	if len(s) < 2 || len(s) > 2048 || strings.ContainsAny(s, " <>{}\"\n\\|^`") {
		return false
	}
	if of == addressField && (s[0] == '/' || strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") ||
		strings.HasPrefix(s, "./")) {
		return true
	}
	name, _, _ := strings.Cut(s, "#")
	if strings.Contains(name, "bibbase.org/show?") {
		return true
	}
	if strings.IndexByte(name, '.') < 1 {
		return false
	}
	if !strings.Contains(name, "://") {
		name = "http://h/" + name
	}
	return weburl.IsDocumentName(name) || isDataFile(name)
}

// words is a title or a name without markup of the page's own.
func words(s string) string {
	return cutText(folded([]byte(strings.ToValidUTF8(s[:min(len(s), 2*maxContext)], ""))), maxContext)
}

// isPhrase reports whether a literal may be a title: three words or more.
func isPhrase(s string) bool {
	return len(s) >= 12 && len(s) <= maxContext && strings.Count(s, " ") >= 2 && !strings.ContainsAny(s, "{}<>=;")
}

// isLabel knows titles of links that are none of works.
func isLabel(s string) bool { return len(s) < 12 && strings.IndexByte(s, ' ') < 0 }

var year = regexp.MustCompile(`(?:19|20)[0-9]{2}`)

// yearIn finds four digits that begin with a century.
func yearIn(s string) string { return year.FindString(s[:min(len(s), maxContext)]) }
