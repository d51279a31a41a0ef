package match

import (
	"slices"
	"strings"

	"gleaner/internal/text"
)

// relation is the relation of two forms of a title.
type relation int

const (
	sameTitle    relation = iota // letter for letter
	misread                      // a few letters differ, as after bad text extraction
	nearTitle                    // an article, a plural or a spelling differs
	withSubtitle                 // one is the other with a subtitle added
	prolonged                    // one is a prefix of the other
	otherTitle                   // a number or a content word differs
)

// wanted is a title prepared for alignment.
type wanted struct {
	letters []byte
	word    []int    // for each letter, which word it is in
	words   []string // skeletons of the words
	begin   []int    // first letter of each word
	main    int      // letters before a subtitle; 0 without one
}

func newWanted(title string) wanted {
	s := titleStream(title)
	w := wanted{letters: s.letters, word: make([]int, len(s.letters))}
	if i := subtitleAt(s.text); i > 0 {
		w.main = s.letterAt(i)
	}
	for i := range s.letters {
		if i == 0 || parted(s.text[s.pos[i-1]:s.pos[i]]) {
			w.begin = append(w.begin, i)
		}
		w.word[i] = len(w.begin) - 1
	}
	for k, b := range w.begin {
		e := len(s.letters)
		if k+1 < len(w.begin) {
			e = w.begin[k+1]
		}
		w.words = append(w.words, string(s.letters[b:e]))
	}
	return w
}

// subtitleAt returns the index of the sign that begins a subtitle, or -1.
func subtitleAt(title string) int {
	best := -1
	for _, sign := range []string{": ", " - ", " – ", " — ", "? ", ". "} {
		if i := strings.Index(title, sign); i > 0 && (best < 0 || i < best) {
			best = i
		}
	}
	return best
}

// parted reports whether the text between two letters separates words.
func parted(between string) bool {
	return strings.ContainsFunc(between, text.Separates)
}

// small reports whether a word can be added or removed without changing a title.
func small(w string) bool {
	return strings.Contains(" a an the of on in or for and to with by via at from its ", " "+w+" ")
}

// roman reports whether w is a roman numeral of a part of a series.
func roman(w string) bool {
	return strings.Contains(" i ii iii iv v vi vii viii ix x ", " "+w+" ")
}

// maxEdits returns the greatest number of edits for which two titles are compared: a third of the
// letters.
func maxEdits(letters int) int { return max(3, letters/3) }

// judge distinguishes misread letters from different words. text is the stream of al.
func (w wanted) judge(al alignment, text []byte) relation {
	if al.edits == 0 {
		return sameTitle
	}
	if al.edits > maxEdits(len(w.letters)) {
		return otherTitle
	}
	perWord := make([]int, len(w.words))
	out := misread
	for i := 0; i < len(al.ops); {
		j := i + 1
		for j < len(al.ops) && al.ops[j].i-al.ops[j-1].i <= 1 && al.ops[j].j-al.ops[j-1].j <= 1 {
			j++
		}
		out = max(out, w.judgeRun(al.ops[i:j], text))
		for _, o := range al.ops[i:j] {
			perWord[w.word[min(o.i, len(w.word)-1)]]++
		}
		i = j
	}
	for k, n := range perWord {
		if l := len(w.words[k]); n > 0 && !small(w.words[k]) && 2*n > l && l >= 3 || roman(w.words[k]) && n > 0 {
			return otherTitle
		}
	}
	if out == misread && al.edits > max(1, len(w.letters)/12) {
		out = nearTitle
	}
	return out
}

// long reports whether a title is long enough to identify a work with little other evidence.
func (w wanted) long() bool { return len(w.letters) > 30 && len(w.words) >= 4 }

// onlyLost reports whether a text lacks letters of the title with hardly any others in their
// place. A lost number makes another title.
func (w wanted) onlyLost(al alignment) bool {
	others := 0
	for _, o := range al.ops {
		if o.kind != remove {
			others++
			continue
		}
		if word := w.words[w.word[o.i]]; roman(word) || number(word) != "" {
			return false
		}
	}
	return others <= len(w.letters)/24
}

// judgeRun judges one run of neighbouring edits.
func (w wanted) judgeRun(run []op, text []byte) relation {
	var gone, come []byte
	for _, o := range run {
		if o.kind != insert {
			gone = append(gone, w.letters[o.i])
		}
		if o.kind != remove {
			come = append(come, text[o.j])
		}
	}
	g, c := string(gone), string(come)
	switch {
	case number(g) != number(c):
		return otherTitle
	case len(run) == 1:
		return misread
	case small(g) && c == "" || small(c) && g == "":
		return nearTitle
	case negates(g) && c == "" || negates(c) && g == "":
		return otherTitle
	case len(run) >= 4:
		return otherTitle
	case len(run) == 3:
		return nearTitle
	}
	return misread
}

// number returns the digits of s, without letters that text extraction confuses with digits.
func number(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// negates reports whether s is a prefix that changes the meaning of a word.
func negates(s string) bool {
	return strings.Contains(" un in non anti im ir dis bi semi pre post multi sub co re de ", " "+s+" ")
}

// clip limits the length of an untrusted title, since comparison takes quadratic time.
func clip(title string) string { return text.Head(title, 4*maxTitle) }

// compareTitles returns the relation of two titles of records.
func compareTitles(a, b string) relation {
	a, b = clip(a), clip(b)
	na, nb := text.Normalise(a), text.Normalise(b)
	if na == nb {
		return sameTitle
	}
	if na == "" || nb == "" {
		return otherTitle
	}
	wa := newWanted(a)
	wb := newWanted(b)
	if len(wa.letters) == 0 || len(wb.letters) == 0 { // only ligatures
		return otherTitle
	}
	if mainPart(a, text.Normalise(b)) || mainPart(b, text.Normalise(a)) {
		return withSubtitle
	}
	if wordsDiffer(wa.words, wb.words) {
		if short := min(len(na), len(nb)); short > shortTitle && na[:short] == nb[:short] {
			return prolonged
		}
		return otherTitle
	}
	var al aligner
	got := al.align(wa.letters, wb.letters, 0, len(wb.letters), len(wa.letters))
	// Text at both ends is free in align, but counts between titles.
	for j := got.start - 1; j >= 0; j-- {
		got.ops = append([]op{{insert, 0, j}}, got.ops...)
		got.edits++
	}
	for j := got.end; j < len(wb.letters); j++ {
		got.ops = append(got.ops, op{insert, len(wa.letters), j})
		got.edits++
	}
	return max(misread, wa.judge(got, wb.letters))
}

// mainPart reports whether main is a title's part before a colon, dash, question mark,
// full stop or the sign of a parallel title (ISBD " / ", " = ").
func mainPart(title, main string) bool {
	if len(main) < 12 {
		return false
	}
	for i, r := range title {
		switch r {
		case ':', '?', '.', '–', '—', '-', '/', '=', '(':
			if text.Normalise(title[:i]) == main {
				return !aboutAnother(title[i:])
			}
		}
	}
	return false
}

// aboutAnother reports whether a subtitle marks a work about another work: its data, a reply, a
// correction.
func aboutAnother(subtitle string) bool {
	return slices.ContainsFunc(text.TitleWords(subtitle), func(w string) bool {
		switch w {
		case "dataset", "data", "rejoinder", "reply", "response", "comment", "comments", "discussion", "erratum",
			"corrigendum", "correction", "supplement", "supplementary", "appendix", "review", "poster", "slides":
			return true
		}
		return roman(w) || number(w) != ""
	})
}

// wordsDiffer reports whether only one title has a number or a content word. Plurals and
// misprints of a word are equal to it, and so are words written together in one title and apart
// in the other.
func wordsDiffer(a, b []string) bool {
	ja, jb := strings.Join(a, ""), strings.Join(b, "")
	return lacks(a, b, jb) || lacks(b, a, ja)
}

func lacks(a, b []string, joined string) bool {
	for _, w := range a {
		if small(w) || slices.Contains(b, w) {
			continue
		}
		if number(w) != "" || roman(w) {
			return true
		}
		if len(w) >= 4 && strings.Contains(joined, w) {
			continue
		}
		if !slices.ContainsFunc(b, func(v string) bool { return nearWord(w, v) }) {
			return true
		}
	}
	return false
}

// nearWord allows one edit in five letters for words with the same beginning, and one in eight
// for others.
func nearWord(a, b string) bool {
	if len(a) < 4 || len(b) < 4 || number(b) != "" {
		return false
	}
	var al aligner
	short, long := []byte(a), []byte(b)
	if len(short) > len(long) {
		short, long = long, short
	}
	got := al.align(short, long, 0, len(long), len(short))
	d := got.edits + got.start + len(long) - got.end
	if a[:2] == b[:2] {
		return d*5 <= max(len(a), len(b))
	}
	return d*8 <= max(len(a), len(b))
}
