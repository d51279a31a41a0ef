package page

import (
	"bytes"
	"html"
	"strings"
	"unicode/utf8"
)

// textBuffer gathers visible text with its spaces folded: any run of white
// space is one space, none stands at the start.
type textBuffer struct {
	buf   []byte
	space bool // one is due before the next letter
}

// breakLine makes sure that what follows is another word.
func (t *textBuffer) breakLine() { t.space = true }

// start is where the next letter will stand.
func (t *textBuffer) start() int {
	if t.space && len(t.buf) > 0 {
		return len(t.buf) + 1
	}
	return len(t.buf)
}

// write adds text as it stands in the source, decoding its character
// references.
func (t *textBuffer) write(src []byte) {
	for {
		i := bytes.IndexByte(src, '&')
		if i < 0 {
			t.fold(src)
			return
		}
		t.fold(src[:i])
		n := i + 1
		for n < len(src) && n < i+maxReference && (isLetter(src[n]) || src[n] >= '0' && src[n] <= '9' || src[n] == '#') {
			n++
		}
		if n < len(src) && src[n] == ';' {
			n++
		}
		t.fold([]byte(html.UnescapeString(string(src[i:n]))))
		src = src[n:]
	}
}

// maxReference is longer than any name of a character.
const maxReference = 40

// fold adds text, folding its spaces.
func (t *textBuffer) fold(s []byte) {
	for i := 0; i < len(s); {
		if n := spaceAt(s[i:]); n > 0 {
			t.space = true
			i += n
			continue
		}
		if n := controlAt(s[i:]); n > 0 {
			i += n
			continue
		}
		if t.space {
			if len(t.buf) > 0 {
				t.buf = append(t.buf, ' ')
			}
			t.space = false
		}
		j := i + 1
		for j < len(s) && s[j] > ' ' && s[j] < 0x7f {
			j++
		}
		for j < len(s) && s[j] >= 0x80 && !utf8.RuneStart(s[j]) {
			j++
		}
		t.buf = append(t.buf, s[i:j]...)
		i = j
	}
}

// withoutControls drops what is no text: the control characters of ASCII but
// for white space, and those that Unicode has from Latin-1. No terminal, file
// or database is to meet them. A text without any comes back as it is.
func withoutControls(s []byte) []byte {
	at := 0
	for at < len(s) && controlAt(s[at:]) == 0 {
		at++
	}
	if at == len(s) {
		return s
	}
	out := append(make([]byte, 0, len(s)), s[:at]...)
	for at < len(s) {
		if n := controlAt(s[at:]); n > 0 {
			at += n
			continue
		}
		out = append(out, s[at])
		at++
	}
	return out
}

// controlAt is the length of the control character at the start of s, 0 if
// there is none.
func controlAt(s []byte) int {
	switch c := s[0]; {
	case c == 0x7f || c < ' ' && !isSpace(c) && c != '\v':
		return 1
	case c == 0xc2 && len(s) > 1 && s[1] >= 0x80 && s[1] < 0xa0:
		return 2
	}
	return 0
}

// spaceAt is the length of the space at the start of s, 0 if there is none.
// No-break and typographic spaces count, and what has no width at all.
func spaceAt(s []byte) int {
	switch c := s[0]; {
	case c == ' ' || c >= '\t' && c <= '\r':
		return 1
	case c == 0xc2:
		if len(s) > 1 && s[1] == 0xa0 {
			return 2
		}
	case c == 0xe2 && len(s) > 2 && s[1] == 0x80:
		if s[2] >= 0x80 && s[2] <= 0x8b || s[2] == 0xa8 || s[2] == 0xa9 || s[2] == 0xaf {
			return 3
		}
	case c == 0xe3:
		if len(s) > 2 && s[1] == 0x80 && s[2] == 0x80 {
			return 3
		}
	}
	return 0
}

// cutText shortens s to at most n bytes, at a letter's end, preferably a
// word's.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end := n
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	if i := strings.LastIndexByte(s[:end], ' '); i > end-24 && i > 0 {
		end = i
	}
	return s[:end]
}

// folded is a string of source text as visible text.
func folded(src []byte) string {
	var t textBuffer
	t.write(src)
	return string(t.buf)
}
