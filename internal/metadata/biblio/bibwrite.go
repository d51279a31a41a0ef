package biblio

import (
	"bufio"
	"cmp"
	"fmt"
	"path"
	"strings"
	"unicode"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// Entry is a paper to be written down.
type Entry struct {
	gleaner.Paper
	File string // where its document lies: a path, relative to the list or whole; "" is none
	Kind string // of that document, as its name's ending says it where it has one: "pdf", "ps"
}

// inJournal tells by the keys that catalogues give.
func inJournal(p gleaner.Paper) bool {
	return strings.HasPrefix(p.Venue, "journals/") || strings.HasPrefix(p.Key, "journals/")
}

func writeBibTeX(w *bufio.Writer, entries []Entry) {
	taken := map[string]int{}
	for i, e := range entries {
		e.bibTeX(w, citeKey(taken, e.Key, i))
	}
}

func (e Entry) bibTeX(w *bufio.Writer, key string) {
	kind, in := "inproceedings", "booktitle"
	switch {
	case inJournal(e.Paper), e.Type == "article":
		kind, in = "article", "journal"
	case e.Type != "" && strings.Trim(e.Type, "abcdefghijklmnopqrstuvwxyz") == "":
		kind = e.Type
	case e.Venue == "":
		kind, in = "misc", "howpublished"
	}
	fmt.Fprintf(w, "@%s{%s,\n", kind, key)
	field := func(name, v string) {
		if v = strings.Join(strings.Fields(plain(v)), " "); v != "" {
			fmt.Fprintf(w, "  %-9s = {%s},\n", name, v)
		}
	}
	field("title", protected(e.Title))
	authors := each.Of(e.Authors, func(a gleaner.Author) string { return toTeX(inverted(a, BibTeX)) })
	field("author", strings.Join(authors, " and "))
	field("year", Year(e.Year))
	field(in, toTeX(e.Venue))
	field("pages", strings.ReplaceAll(toTeX(e.Pages), "-", "--"))
	field("doi", verbatim.Replace(e.DOI))
	field("eprint", verbatim.Replace(e.ArXiv))
	if len(e.Links) > 0 { // what stands in url is opened as it is
		field("url", verbatim.Replace(e.Links[0]))
		field("also", verbatim.Replace(strings.Join(e.Links[1:], " ")))
	}
	field("file", e.linkedFile())
	_, _ = w.WriteString("}\n\n")
}

// citeKey is a key that no style stumbles over, and that no entry before has.
func citeKey(taken map[string]int, given string, at int) string {
	key := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`,{}()"#%=\~@'`, r) {
			return -1
		}
		return r
	}, given)
	key = cmp.Or(key, fmt.Sprintf("paper%d", at+1))
	if taken[key]++; taken[key] > 1 {
		key = fmt.Sprintf("%s-%d", key, taken[key])
	}
	return key
}

// linkedFile is the file in the syntax of JabRef, which Zotero reads, too:
// "description:path:type", in which a backslash is before a colon, a semicolon and a
// backslash of the path.
func (e Entry) linkedFile() string {
	if e.File == "" {
		return ""
	}
	kinds := map[string]string{"pdf": "PDF", "ps": "PostScript", "djvu": "DjVu", "html": "URL", "doc": "Word", "docx": "Word 2007+", "epub": "ePUB", "txt": "Text"}
	return ":" + inFile.Replace(e.File) + ":" + kinds[cmp.Or(e.Kind, strings.TrimPrefix(path.Ext(e.File), "."))]
}

var inFile = strings.NewReplacer(`\`, `\\`, ":", `\:`, ";", `\;`, "{", "", "}", "")

// protected is a title of which styles leave the capitals that matter: BibTeX makes
// small letters of all but the first. Such are words with a capital behind their first
// letter (XML, WebDB) and, of a title that is in small letters otherwise, all capitals:
// they are names.
func protected(title string) string {
	words := strings.Fields(title)
	small := inSmallLetters(words)
	for i, w := range words {
		words[i] = toTeX(w)
		if capital := strings.IndexFunc(w, unicode.IsUpper); capital >= 0 {
			_, first := firstLetter(w)
			if inner := strings.IndexFunc(w[first:], unicode.IsUpper) >= 0; inner || small && i > 0 {
				words[i] = "{" + words[i] + "}"
			}
		}
	}
	return strings.Join(words, " ")
}

// inSmallLetters tells whether most of the longer words behind the first begin with a
// small letter.
func inSmallLetters(words []string) bool {
	small, large := 0, 0
	for i, w := range words {
		r, _ := firstLetter(w)
		switch {
		case i == 0 || len(w) < 5:
		case unicode.IsLower(r):
			small++
		case unicode.IsUpper(r):
			large++
		}
	}
	return small > large
}

// firstLetter is the first letter of a word, and where the rest begins.
func firstLetter(w string) (rune, int) {
	for i, r := range w {
		if unicode.IsLetter(r) {
			return r, i + len(string(r))
		}
	}
	return 0, len(w)
}

// verbatim writes identifiers and addresses, which styles take as they are: what
// would end the field, or the entry, is written as in an address.
var verbatim = strings.NewReplacer("{", "%7B", "}", "%7D", `\`, "%5C")

// toTeX escapes what means something to TeX; letters stay Unicode, as today's
// BibTeX engines read them. An escaped brace counts as a brace all the same
// where BibTeX balances them, so braces are written by name.
func toTeX(s string) string { return escaped.Replace(s) }

var escaped = strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"{", `\textbraceleft{}`, "}", `\textbraceright{}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`)
