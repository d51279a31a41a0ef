package page

import (
	"bytes"
	"strings"

	"gleaner/internal/web/weburl"
)

// maxHints bounds the hints of one page, and maxTries the file types in scripts
// that are looked at for them: a script that has more carries data.
const (
	maxHints = 200
	maxTries = 5000
)

// inlineHandlers takes hints from on… attributes and the data attributes that
// scripts make links of.
func (b *builder) inlineHandlers() {
	for _, a := range b.scan.attrs {
		switch {
		case len(a.key) > 2 && len(a.key) <= 12 && a.key[0]|0x20 == 'o' && a.key[1]|0x20 == 'n':
			b.scriptHints(a.val)
		case equalFold(a.key, "data-href") || equalFold(a.key, "data-url"):
			b.hint(a.val)
		}
	}
}

// scriptHints finds strings in plain JavaScript that look like paths to pages
// or documents. Each has a dot before its type, so the dots are looked at.
func (b *builder) scriptHints(src []byte) {
	for i := 0; i < len(src) && b.hints < maxHints && b.tries < maxTries; {
		j := bytes.IndexByte(src[i:], '.')
		if j < 0 {
			return
		}
		dot := i + j
		i = dot + 1
		if i == len(src) || !isLetter(src[i]) {
			continue
		}
		end := typeEnd(src, i)
		if !leadsOn(strings.ToLower(string(src[i:end]))) {
			continue
		}
		b.tries++
		if s, end, ok := quoted(src, dot, end); ok {
			i = end
			b.hint(s)
		}
	}
}

// typeEnd is where the file type that starts at i ends.
func typeEnd(src []byte, i int) int {
	end := i
	for end < len(src) && end < i+5 && (isLetter(src[end]) || src[end] >= '0' && src[end] <= '9') {
		end++
	}
	return end
}

// quoted finds the string literal around a dot and the file type after it,
// which ends at end.
func quoted(src []byte, dot, end int) (s []byte, after int, ok bool) {
	const most = 300
	for limit := end + most; end < len(src) && end < limit && inPath(src[end]); {
		end++
	}
	if end >= len(src) || !isQuote(src[end]) {
		return nil, 0, false
	}
	quote, start := src[end], dot
	for limit := dot - most; start > 0 && start > limit && inPath(src[start-1]); {
		start--
	}
	if start == 0 || src[start-1] != quote {
		return nil, 0, false
	}
	return src[start:end], end + 1, start < dot
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// inPath are the bytes that a path in a script may have.
func inPath(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c >= 0x80 || strings.IndexByte("/._~%?=&:+-\\@,;()#", c) >= 0
}

// leadsOn says whether a file type is one of pages or documents.
func leadsOn(ext string) bool {
	switch ext {
	case "html", "htm", "shtml", "xhtml", "php", "asp", "aspx", "jsp", "cgi":
		return true
	case "gz", "z":
		return true // after ps or pdf; hint looks again
	}
	return weburl.IsDocumentName("http://h/x." + ext)
}

// hint adds a faint link if a string looks like the path of a page or a
// document.
func (b *builder) hint(s []byte) {
	s = bytes.TrimSpace(s)
	if len(s) < 4 || len(s) > 300 || b.hints >= maxHints || bytes.ContainsAny(s, " <>{}\"'\n") {
		return
	}
	s = bytes.ReplaceAll(s, []byte(`\/`), []byte("/"))
	name, _, _ := bytes.Cut(s, []byte("?"))
	dot := bytes.LastIndexByte(name, '.')
	if dot < 1 || dot+1 == len(name) || name[dot-1] == '/' {
		return
	}
	if !leadsOn(strings.ToLower(string(name[dot+1:]))) {
		return
	}
	if l := b.link(s, SourceScript); l != nil {
		b.hints++
	}
}
