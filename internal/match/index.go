package match

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

const (
	gram     = 8           // letters of an n-gram
	maxGrams = 6           // n-grams of one title in the index
	maxTitle = 400         // letters of a title that are compared
	common   = 256         // titles of an n-gram that are examined
	maxHits  = 16 * common // of the n-grams of a text
)

// Index finds the wanted papers whose title is similar to a text. It is read-only.
type Index struct {
	papers []gleaner.Paper
	arena  []byte   // skeletons of all titles, one after the other
	from   []uint32 // start of each in arena, and the end of the last

	shift   uint
	bucket  []uint32 // start of each bucket in entries
	entries []entry
	bloom   []uint64
	bloomSh uint

	next  []int32        // the next paper of the same title, or 0
	short map[string]int // the first paper of a title too short for an n-gram
	doi   map[string][]int32
	arxiv map[string][]int32

	crowds nameYears // of titles that many papers have, by their first paper
}

// entry is one n-gram of one title: 28 bits of its hash, 28 bits of the paper's
// number, 8 bits of the n-gram's place in the title (in steps of two letters).
type entry uint64

func (e entry) tag() uint64 { return uint64(e >> 36) }
func (e entry) paper() int  { return int(e >> 8 & (1<<28 - 1)) }
func (e entry) offset() int { return int(e&255) * 2 }

// NewIndex returns an index of papers. It keeps the slice; the caller must not change it
// afterwards. Build time is linear: about three seconds and 160 MB beside the papers for a
// million titles.
func NewIndex(papers []gleaner.Paper) *Index {
	ix := &Index{
		papers: papers,
		from:   make([]uint32, 1, len(papers)+1),
		short:  map[string]int{},
		doi:    map[string][]int32{},
		arxiv:  map[string][]int32{},
		crowds: nameYears{},
	}
	for i, p := range papers {
		ix.arena = append(ix.arena, titleStream(p.Title).letters...)
		ix.from = append(ix.from, uint32(len(ix.arena)))
		if d := gleaner.ParseDOI(p.DOI); d != "" {
			ix.doi[d] = append(ix.doi[d], int32(i))
		}
		if a := gleaner.ParseArXiv(p.ArXiv); a != "" {
			ix.arxiv[a] = append(ix.arxiv[a], int32(i))
		}
	}
	ix.fill()
	return ix
}

// Len returns the number of papers.
func (ix *Index) Len() int { return len(ix.papers) }

// Papers returns the papers of the index.
func (ix *Index) Papers() []gleaner.Paper { return ix.papers }

func (ix *Index) title(i int) []byte { return ix.arena[ix.from[i]:ix.from[i+1]] }

// fill selects the n-grams of each title and sorts them into buckets.
func (ix *Index) fill() {
	freq, again := ix.frequencies(), ix.chain()
	entries := make([]entry, 0, len(ix.papers)*4)
	hashes := make([]uint64, 0, len(ix.papers)*4)
	var hs []uint64
	for i := range ix.papers {
		t := ix.title(i)
		if again[i] || len(t) == 0 {
			continue
		}
		if all := ix.alike(i, len(ix.papers)); len(all) > maxNamed {
			ix.crowds.add(i, all, ix.papers)
		}
		if len(t) < gram {
			ix.short[string(t)] = i
			continue
		}
		hs = appendHashes(hs[:0], t)
		for _, o := range choose(hs, freq) {
			// The entry holds only even places. The n-gram is found by its hash, and its place
			// only gives the diagonal.
			entries = append(entries, entry(hs[o]&(1<<28-1))<<36|entry(i)<<8|entry(min(o/2, 255)))
			hashes = append(hashes, hs[o])
		}
	}
	ix.shift = uint(64 - max(4, bits.Len(uint(len(entries)))))
	ix.bucket = make([]uint32, 1<<(64-ix.shift)+1)
	for _, h := range hashes {
		ix.bucket[h>>ix.shift+1]++
	}
	for b := 1; b < len(ix.bucket); b++ {
		ix.bucket[b] += ix.bucket[b-1]
	}
	next := slices.Clone(ix.bucket)
	ix.entries = make([]entry, len(entries))
	ix.bloomSh = ix.shift - min(ix.shift, 3)
	ix.bloom = make([]uint64, 1<<(64-ix.bloomSh)/64)
	for k, h := range hashes {
		b := h >> ix.shift
		ix.entries[next[b]] = entries[k]
		next[b]++
		bit := h >> ix.bloomSh
		ix.bloom[bit/64] |= 1 << (bit % 64)
	}
}

// chain links the papers of each title, and reports which papers are not the first of their
// title.
func (ix *Index) chain() (again []bool) {
	ix.next, again = make([]int32, len(ix.papers)), make([]bool, len(ix.papers))
	last, seed := make(map[uint64]int32, len(ix.papers)), maphash.MakeSeed()
	for i := range ix.papers {
		h := maphash.Bytes(seed, ix.title(i))
		if was, ok := last[h]; ok && bytes.Equal(ix.title(int(was)), ix.title(i)) {
			ix.next[was], again[i] = int32(i), true
		}
		last[h] = int32(i)
	}
	return again
}

// frequencies counts the n-grams of all titles in saturating counters; two n-grams may share one.
func (ix *Index) frequencies() []uint16 {
	width := max(10, min(24, bits.Len(uint(len(ix.arena)))))
	freq := make([]uint16, 1<<width)
	shift := 64 - uint(width)
	var hs []uint64
	for i := range ix.papers {
		hs = appendHashes(hs[:0], ix.title(i))
		for _, h := range hs {
			if c := &freq[h>>shift]; *c < 1<<16-1 {
				*c++
			}
		}
	}
	return freq
}

// choose returns the rarest n-gram of each equal section of a title, so that one misread word
// affects one of them.
func choose(hs []uint64, freq []uint16) []int {
	shift := uint(64 - bits.Len(uint(len(freq))-1))
	n := min(maxGrams, max(1, (len(hs)+gram)/10), len(hs))
	out := make([]int, 0, maxGrams)
	for k := range n {
		lo, hi := k*len(hs)/n, (k+1)*len(hs)/n
		best := lo
		for o := lo + 1; o < hi; o++ {
			if freq[hs[o]>>shift] < freq[hs[best]>>shift] {
				best = o
			}
		}
		out = append(out, best)
	}
	return out
}

// appendHashes appends the hash of the n-gram at each place of b.
func appendHashes(hs []uint64, b []byte) []uint64 {
	for i := 0; i+gram <= len(b); i++ {
		hs = append(hs, hashGram(b[i:]))
	}
	return hs
}

// hashGram mixes the eight bytes at b as one word (the finaliser of splitmix64).
func hashGram(b []byte) uint64 {
	return mix(binary.LittleEndian.Uint64(b))
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (ix *Index) has(h uint64) bool {
	bit := h >> ix.bloomSh
	return ix.bloom[bit/64]>>(bit%64)&1 != 0
}

// lookup returns the entries of a bucket; those of the n-gram have its tag.
func (ix *Index) lookup(h uint64) []entry {
	b := h >> ix.shift
	return ix.entries[ix.bucket[b]:ix.bucket[b+1]]
}

// candidate is a title that shares n-grams with a text along one diagonal.
type candidate struct {
	paper int
	at    int // letter of the text at which the title would begin
	votes int
}

// hit packs a paper's number and the letter at which its title would begin, so that hits sort as
// plain numbers. The letter may be negative.
type hit uint64

const hitZero = 1 << 20

func newHit(paper, at int) hit { return hit(paper)<<32 | hit(at+hitZero) }

func (h hit) paper() int { return int(h >> 32) }
func (h hit) at() int    { return int(h&(1<<32-1)) - hitZero }

// candidates returns the papers whose title may be in text[lo:hi], best first.
func (ix *Index) candidates(text []byte, lo, hi, limit int, by func() traits) []candidate {
	var out []candidate
	for _, c := range ix.titles(text, lo, hi, limit) {
		for _, i := range ix.likeliest(c.paper, limit-len(out), by) {
			out = append(out, candidate{i, c.at, c.votes})
		}
	}
	return out
}

// alike returns at most n papers of a title, from the given one on.
func (ix *Index) alike(paper, n int) []int {
	var out []int
	for i := paper; len(out) < n && (i > 0 || len(out) == 0); i = int(ix.next[i]) {
		out = append(out, i)
	}
	return out
}

// titles returns the titles that may be in text[lo:hi], best first, each by its first paper. A
// title with four or more n-grams needs two of them on a diagonal.
func (ix *Index) titles(text []byte, lo, hi, limit int) []candidate {
	var hits []hit
	hi = min(hi, len(text))
	for p := lo; p+gram <= hi && len(hits) < maxHits; p++ {
		h := hashGram(text[p:])
		if !ix.has(h) {
			continue
		}
		tag, n := h&(1<<28-1), 0
		for _, e := range ix.lookup(h) {
			if e.tag() == tag {
				hits = append(hits, newHit(e.paper(), p-e.offset()))
				if n++; n == common {
					break
				}
			}
		}
	}
	slices.Sort(hits)
	return ix.tally(hits, limit)
}

func (ix *Index) tally(hits []hit, limit int) []candidate {
	var out []candidate
	for i := 0; i < len(hits); {
		paper, at := hits[i].paper(), hits[i].at()
		letters := len(ix.title(paper))
		j := i + 1
		for j < len(hits) && hits[j].paper() == paper && hits[j].at()-at <= letters/8+6 {
			j++
		}
		if j-i >= 2 || letters < 40 {
			out = append(out, candidate{paper, at, j - i})
		}
		i = j
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return cmp.Compare(b.votes, a.votes) })
	return out[:min(len(out), limit)]
}

// Likeness returns the share of a wanted title in text (an anchor, the words around a link): 1
// for the whole title, 0 for none. It is called for every link of every page, so it rejects
// quickly.
func (ix *Index) Likeness(text string) float64 { return ix.LikenessBut(text, nil) }

// LikenessBut is Likeness to the titles for which had is nil or returns false.
func (ix *Index) LikenessBut(text string, had func(title string) bool) float64 {
	counts := func(first int) bool { return ix.identifiable(first) && (had == nil || !had(ix.papers[first].Title)) }
	var buf [640]byte
	b := foldShort(buf[:0], text)
	if len(b) < gram {
		if i, ok := ix.short[string(b)]; ok && counts(i) {
			return 0.5 // a title this short may be a common word
		}
		return 0
	}
	if !ix.any(b) {
		return 0
	}
	best := 0.0
	var al aligner
	for _, c := range ix.titles(b, 0, len(b), maxNamed) {
		if !counts(c.paper) {
			continue
		}
		t := ix.title(c.paper)
		if bytes.Contains(b, t) {
			return likeWhole(t)
		}
		slack := len(t)/8 + 8
		edits := al.fewest(t, b, c.at-slack, c.at+len(t)+slack)
		best = max(best, likeWhole(t)*(1-float64(edits)/float64(len(t))))
	}
	if best < 0.5 {
		return 0
	}
	return best
}

// maxNamed is the number of titles of a short text, and of papers of a title, that are examined.
const maxNamed = 8

// identifiable reports whether a title can identify a document, for at least one of its papers.
func (ix *Index) identifiable(first int) bool {
	return slices.ContainsFunc(ix.alike(first, maxNamed), func(i int) bool { return Unidentifiable(ix.papers[i]) == "" })
}

// foldShort appends the skeleton of the first 600 letters of s.
func foldShort(b []byte, s string) []byte {
	for i := 0; i < len(s) && len(b) < 600; {
		switch c := s[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z': // no other rune has such a byte
			b = append(b, c|0x20)
			i++
		case c == ' ':
			i++
		default:
			var n int
			b, n = text.AppendFolded(b, s[i:])
			i += n
		}
	}
	b, _ = dropLigatures(b, nil)
	return b
}

// likeWhole returns the likeness of a text with the whole title, which is lower for short titles
// since they occur by chance.
func likeWhole(title []byte) float64 {
	return min(1, 0.5+float64(len(title))/40)
}

func (ix *Index) any(b []byte) bool {
	x := binary.LittleEndian.Uint64(b) << 8 // the first round drops the lowest byte
	for _, c := range b[gram-1:] {
		x = x>>8 | uint64(c)<<56
		if h := mix(x); ix.has(h) {
			tag := h & (1<<28 - 1)
			for _, e := range ix.lookup(h) {
				if e.tag() == tag {
					return true
				}
			}
		}
	}
	return false
}
