package document

import (
	"hash/fnv"
	"math"
	"strings"
	"unicode"
)

// SketchSize is how many minima a Sketch keeps: the error of its estimate of
// Jaccard similarity is about 1/√128 ≈ 0.09.
const SketchSize = 128

// shingle is how many words a shingle has.
const shingle = 4

// sketchPages is how many first pages are fingerprinted. Copies of one paper
// are read by different readers to different depths; their first pages are what
// all of them have.
const sketchPages = VerdictPages

// Sketch is a minhash of a text's shingles (Broder 1997): the share of equal
// entries estimates the Jaccard similarity of two texts. Nil for a text too
// short to tell from another.
type Sketch []uint32

// NewSketch makes the sketch of a text's first pages. Case, punctuation,
// digits and line ends do not count, so that stamps, page numbers and another
// format of the same paper change little.
func NewSketch(t *Text) Sketch {
	words := textWords(t)
	if len(words) < 30 {
		return nil
	}
	s := make(Sketch, SketchSize)
	for i := range s {
		s[i] = math.MaxUint32
	}
	eachShingle(words, func(h uint64) {
		a, b := uint32(h), uint32(h>>32)|1
		for i := range s {
			a += b // double hashing: one hash of the shingle, many orders
			if v := mix32(a); v < s[i] {
				s[i] = v
			}
		}
	})
	return s
}

// Similarity estimates the Jaccard similarity of two texts, 0 to 1. It is 0
// where one is too short.
func (s Sketch) Similarity(o Sketch) float64 {
	if len(s) != SketchSize || len(o) != SketchSize {
		return 0
	}
	same := 0
	for i := range s {
		same += boolInt(s[i] == o[i])
	}
	return float64(same) / SketchSize
}

// Bands cuts the sketch into 32 keys of four minima each: two texts that share
// a key are worth comparing. Texts of similarity 0.6 share one with probability
// 0.99, texts of 0.1 with 0.003 (s-curve 1-(1-s⁴)³²).
func (s Sketch) Bands() []uint64 {
	if len(s) != SketchSize {
		return nil
	}
	out := make([]uint64, 0, SketchSize/4)
	for i := 0; i < SketchSize; i += 4 {
		h := uint64(i) + 0x9e3779b97f4a7c15
		for _, v := range s[i : i+4] {
			h = mix64(h ^ uint64(v))
		}
		out = append(out, h)
	}
	return out
}

// SameText is the similarity from which two documents are taken for copies of
// one text: PDF and PostScript of a paper, with another stamp or running head.
const SameText = 0.6

// Fingerprint is a simhash of 64 bits (Charikar 2002) of the same shingles: for
// an index in a database. Copies differ in few bits; 0 stands for a text too
// short to tell.
func Fingerprint(t *Text) uint64 {
	words := textWords(t)
	if len(words) < 30 {
		return 0
	}
	var votes [64]int
	eachShingle(words, func(h uint64) {
		for b := range votes {
			votes[b] += int(h>>b&1)*2 - 1
		}
	})
	var out uint64
	for b, v := range votes {
		if v > 0 {
			out |= 1 << b
		}
	}
	return out
}

// textWords are the words of letters of the first pages, in lower case.
func textWords(t *Text) []string {
	n := min(sketchPages, t.Front, len(t.Pages))
	if t.Front == 0 {
		n = min(sketchPages, len(t.Pages))
	}
	text := strings.ToLower(strings.Join(t.Pages[:n], " "))
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

func eachShingle(words []string, do func(uint64)) {
	for i := 0; i+shingle <= len(words); i++ {
		h := fnv.New64a()
		for _, w := range words[i : i+shingle] {
			_, _ = h.Write([]byte(w))
			_, _ = h.Write([]byte{0})
		}
		do(mix64(h.Sum64()))
	}
}

func mix64(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

func mix32(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}
