package rank

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// mask is a set of concepts, one bit each.
type mask uint64

// lexicon finds the concepts of a text in one pass over its bytes, without allocation. It looks
// up a rolling hash of the word at every letter, and so finds each keyword that is a prefix of a
// word.
type lexicon struct {
	names []string // of the bits, sorted
	table []entry  // open addressing; size a power of two
	there bitmap   // its hashes: small, and rejects most prefixes
}

// bitmap is a filter of the hashes that may be in a table.
type bitmap [1 << 7]uint64

func (b *bitmap) add(h uint32) { b[h>>6&(1<<7-1)] |= 1 << (h & 63) }

func (b *bitmap) may(h uint32) bool { return b[h>>6&(1<<7-1)]&(1<<(h&63)) != 0 }

type entry struct {
	hash   uint32
	prefix mask // concepts whose keyword may be a prefix of a word
	whole  mask // concepts whose keyword must be the whole word
}

const (
	hashSeed  uint32 = 2166136261
	hashPrime uint32 = 16777619
)

// newLexicon compiles the concepts and CINDI's lists.
func newLexicon(l Lists) (*lexicon, error) {
	concepts := map[string][]string{
		"high": l.High, "medium": l.Medium, "department": l.DepartmentWords, "stop": l.StopDirectories,
		"avoid": l.AvoidDirectories, "unwelcome": l.UnwelcomeNames, "prune": l.PruningAnchors, "extract": l.ExtractingAnchors,
	}
	maps.Copy(concepts, l.Concepts)
	if len(concepts) > 64 {
		return nil, fmt.Errorf("rank: %d concepts, at most 64", len(concepts))
	}
	lex := &lexicon{table: make([]entry, 4096)}
	for name := range concepts {
		lex.names = append(lex.names, name)
	}
	slices.Sort(lex.names)
	for bit, name := range lex.names {
		whole := name == "department" || name == "stop" || name == "avoid" || name == "prune"
		for _, w := range concepts[name] {
			lex.add(w, mask(1)<<bit, whole)
		}
	}
	return lex, nil
}

func (x *lexicon) add(word string, bit mask, whole bool) {
	if strings.HasPrefix(word, "=") {
		word, whole = word[1:], true
	}
	if isIdeograph(word, 0) { // no spaces between words: a pair matches anywhere
		word, whole = word[:min(len(word), 6)], false
	}
	h, letters := hashSeed, 0
	for i := 0; i < len(word); i++ {
		if c := fold(word[i]); isWordByte(c) {
			h = (h ^ uint32(c)) * hashPrime
			letters++
		}
	}
	if letters == 0 {
		return
	}
	e := x.slot(h)
	e.hash = h
	x.there.add(h)
	if whole {
		e.whole |= bit
	} else {
		e.prefix |= bit
	}
}

func (x *lexicon) slot(h uint32) *entry {
	i := h & uint32(len(x.table)-1)
	for x.table[i].hash != 0 && x.table[i].hash != h {
		i = (i + 1) & uint32(len(x.table)-1)
	}
	return &x.table[i]
}

// scan returns the concepts of the words of s.
func (x *lexicon) scan(s string) mask {
	var found mask
	h := hashSeed
	var last *entry
	small := false
	before := hashSeed // hash after the last character, if it is an ideograph
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= firstIdeograph && isIdeograph(s, i) {
			var m mask
			m, before = x.ideograph(s[i:i+3], before)
			found |= m
			h, last, small = hashSeed, nil, false
			i += 2
			continue
		}
		before = hashSeed
		l := fold(c)
		if !isWordByte(l) || small && c != l {
			if last != nil {
				found |= last.whole
			}
			h, last, small = hashSeed, nil, false
			if !isWordByte(l) {
				continue
			}
		}
		small = c == l
		h = (h ^ uint32(l)) * hashPrime
		if last = nil; !x.there.may(h) {
			continue
		}
		if last = x.slot(h); last.hash == 0 {
			last = nil
			continue
		}
		found |= last.prefix
	}
	if last != nil {
		found |= last.whole
	}
	return found
}

// firstIdeograph is the first UTF-8 byte of kana. Chinese characters and Hangul have greater
// ones.
const firstIdeograph = 0xe3

// isIdeograph reports whether a character of a script without spaces between words begins at i.
func isIdeograph(s string, i int) bool {
	return i+2 < len(s) && s[i] >= firstIdeograph && s[i] <= 0xed && s[i+1]&0xc0 == 0x80 && s[i+2]&0xc0 == 0x80
}

// ideograph returns the concepts of a character, alone or after the one before it, and the hash
// after it.
func (x *lexicon) ideograph(c string, before uint32) (found mask, after uint32) {
	after = hashSeed
	for _, h := range [...]*uint32{&after, &before} {
		for i := range 3 {
			*h = (*h ^ uint32(fold(c[i]))) * hashPrime
		}
		if x.there.may(*h) {
			found |= x.slot(*h).prefix
		}
	}
	return found, after
}

// fold maps capital letters to small ones: ASCII by bytes, Latin-1 and Cyrillic by the bits that
// both cases share in UTF-8.
func fold(c byte) byte {
	switch {
	case c >= 0xc0 && c < 0xe0:
		return c &^ 1
	case c >= 0x80 && c < 0xc0:
		return c &^ 0x20
	}
	return lower(c)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func isWordByte(c byte) bool { return c >= 'a' && c <= 'z' || c >= 0x80 }
