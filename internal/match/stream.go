package match

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"gleaner/internal/text"
)

// stream is a text as folded letters, each with its byte offset in the text.
type stream struct {
	text    string
	letters []byte
	pos     []int32
}

// newStream folds at most max letters of a text. It drops ligatures (ff, fi, fl, ffi, ffl), as
// bad text extraction does: so "efficient" equals "ecient".
func newStream(of string, max int) stream {
	s := stream{text: of}
	guess := min(len(of), max)
	s.letters = make([]byte, 0, guess)
	s.pos = make([]int32, 0, guess)
	for i := 0; i < len(of) && len(s.letters) < max; {
		var n int
		s.letters, n = text.AppendFolded(s.letters, of[i:])
		for len(s.pos) < len(s.letters) {
			s.pos = append(s.pos, int32(i))
		}
		i += n
	}
	s.letters, s.pos = dropLigatures(s.letters, s.pos)
	return s
}

// titleStream returns a title in the form of index and alignment, which must be cut at the same
// length.
func titleStream(title string) stream { return newStream(text.Plain(title), maxTitle) }

// skeleton returns the folded form in which titles are indexed and compared.
func skeleton(title string) []byte {
	b := []byte(text.Normalise(title))
	b, _ = dropLigatures(b, nil)
	return b
}

// dropLigatures works in place; pos may be nil.
func dropLigatures(b []byte, pos []int32) ([]byte, []int32) {
	if bytes.IndexByte(b, 'f') < 0 {
		return b, pos
	}
	out := 0
	for i := 0; i < len(b); {
		if n := ligature(b[i:]); n > 0 {
			i += n
			continue
		}
		b[out] = b[i]
		if pos != nil {
			pos[out] = pos[i]
		}
		out++
		i++
	}
	if pos != nil {
		pos = pos[:out]
	}
	return b[:out], pos
}

func ligature(b []byte) int {
	if b[0] != 'f' || len(b) < 2 {
		return 0
	}
	switch b[1] {
	case 'i', 'l':
		return 2
	case 'f':
		if len(b) > 2 && (b[2] == 'i' || b[2] == 'l') {
			return 3
		}
		return 2
	}
	return 0
}

// lineStart returns the start of the line of text byte p.
func (s stream) lineStart(p int) int {
	return strings.LastIndexAny(s.text[:p], "\n\f") + 1
}

// lineEnd returns the end of the line of text byte p (its newline).
func (s stream) lineEnd(p int) int {
	if i := strings.IndexAny(s.text[p:], "\n\f"); i >= 0 {
		return p + i
	}
	return len(s.text)
}

// at returns the text byte of letter i, or the text's end for the end of the stream.
func (s stream) at(i int) int {
	if i < len(s.pos) {
		return int(s.pos[i])
	}
	return len(s.text)
}

// after returns the text byte after the rune of letter i.
func (s stream) after(i int) int {
	p := s.at(i)
	_, n := utf8.DecodeRuneInString(s.text[p:])
	return p + n
}

// letterAt returns the first letter at or after text byte p.
func (s stream) letterAt(p int) int {
	i, _ := slices.BinarySearch(s.pos, int32(p))
	return i
}
