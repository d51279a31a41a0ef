package homepage

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gleaner/internal/each"
	"gleaner/internal/text"
)

// name is a person's name taken apart and folded.
type name struct {
	given   []string // "jean", "luc", "p"
	surname []string // "van", "dijk": particles belong to it
}

// particles begin a surname.
var particles = wordSet(`van von der den de da di del della dos das do du la le el al bin ben ter ten zu zur af av ibn abu
	st mac`)

var suffixes = wordSet(`jr sr ii iii iv phd dr prof`)

// parseName takes "Jean-Luc P. de la Cruz Jr." or "Cruz, Jean-Luc" apart.
// Homonym numbers of DBLP ("Wei Wang 0001") are ignored.
func parseName(s string) name {
	if last, first, ok := strings.Cut(s, ","); ok && !suffixes[text.Letters(first)] {
		return name{given: nameWords(first), surname: nameWords(last)}
	}
	ws := nameWords(s)
	if len(ws) == 0 {
		return name{}
	}
	at := len(ws) - 1
	for at > 1 && particles[ws[at-1]] {
		at--
	}
	return name{given: ws[:at:at], surname: ws[at:]}
}

// firstOfTwo reads "Begoña García Salazar" as somebody with two surnames who
// goes by the first of them, as log-in names often do; ok is false for names
// that cannot be read so.
func (n name) firstOfTwo() (one name, ok bool) {
	if len(n.given) < 2 || len(n.surname) != 1 || len(n.given[len(n.given)-1]) < 3 {
		return name{}, false
	}
	k := len(n.given) - 1
	return name{given: n.given[:k:k], surname: n.given[k:]}, true
}

func nameWords(s string) []string {
	return slices.DeleteFunc(text.Words(s), func(w string) bool {
		return suffixes[w] || strings.Trim(w, "0123456789") == ""
	})
}

func (n name) last() string {
	if len(n.surname) == 0 {
		return ""
	}
	return n.surname[len(n.surname)-1]
}

func (n name) first() string {
	if len(n.given) == 0 {
		return ""
	}
	return n.given[0]
}

// pinyin is a Chinese given name of two syllables, written as one word.
var pinyin = regexp.MustCompile(`^(` + syllable + `)(` + syllable + `)$`)

const syllable = `(?:zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw])(?:iang|iong|uang|ang|eng|ing|ong|ian|iao|uai|uan|ai|ei|ui|ao|ou|iu|ie|ue|an|en|in|un|ia|ua|uo|a|e|i|o|u|v)`

// initials are those of the given names, and those of their syllables where a name is
// Chinese: zy of Zhiyuan, by which log-in names are made.
func (n name) initials() (names, syllables string) {
	for _, g := range n.given {
		names += g[:1]
		if m := pinyin.FindStringSubmatch(g); m != nil {
			syllables += m[1][:1] + m[2][:1]
		}
	}
	if len(n.given) > 1 {
		syllables = ""
	}
	return names, syllables
}

// How sure a mention of a name is to mean its bearer, from the letters alone.
const (
	nameFull     = 1.0  // given name and surname
	nameLoose    = 0.85 // the same in another romanisation, order or with a short form
	nameNick     = 0.7  // a nickname
	nameInitials = 0.6  // initials and surname
	nameSurname  = 0.3  // the surname alone
)

// in returns the strength of the best mention of n among the words, and
// whether the surname stands there with a given name that is another's.
func (n name) in(ws []string) (strength float64, other bool) {
	if len(n.surname) == 0 {
		return 0, false
	}
	for i := range ws {
		end, sure := n.surnameAt(ws, i)
		if end == 0 {
			continue
		}
		s, o := n.around(ws, i, end)
		strength = max(strength, s*sure)
		other = other || o
	}
	return strength, other && strength < nameInitials
}

// surnameAt returns where a surname that begins at i ends (0 if none begins),
// and how sure that is.
func (n name) surnameAt(ws []string, i int) (end int, sure float64) {
	k := len(n.surname)
	if i+k <= len(ws) {
		sure = 1
		for j, w := range n.surname {
			sure = min(sure, sameWord(ws[i+j], w))
		}
		if sure > 0 {
			return i + k, sure
		}
	}
	if k > 1 { // written as one word, or without its particles
		if joined := strings.Join(n.surname, ""); ws[i] == joined {
			return i + 1, 1
		}
		if s := sameWord(ws[i], n.last()); s > 0 && len(n.last()) > 3 && (i == 0 || !particles[ws[i-1]]) {
			return i + 1, s * nameLoose
		}
	}
	// A surname with a hyphen is two words here; "García" of "García-Molina" is not.
	return 0, 0
}

// around looks for given names before the surname (at [i, end)) and after it.
func (n name) around(ws []string, i, end int) (strength float64, other bool) {
	strength = nameSurname
	if len(n.given) == 0 {
		return nameFull, false
	}
	// Longest first: "jane quentin" + doe, then the word next to it alone.
	for k := min(4, i); k >= 1; k-- {
		if s := n.givenMatch(ws[i-k : i]); s > 0 {
			strength = max(strength, s)
		}
	}
	for k := min(3, len(ws)-end); k >= 1; k-- {
		if s := n.givenMatch(ws[end : end+k]); s > 0 {
			strength = max(strength, min(s, 0.95))
		}
	}
	if strength == nameSurname && i > 0 && looksGiven(ws[i-1]) {
		other = true
	}
	return strength, other
}

// givenMatch compares a run of words beside the surname with the given names.
func (n name) givenMatch(run []string) float64 {
	if strings.Join(run, "") == strings.Join(n.given, "") {
		return nameFull
	}
	first := sameGiven(run[0], n.given[0])
	if first == 0 {
		// Known by the middle name: "J. Ross Quinlan" as "Ross Quinlan".
		if len(run) == 1 && len(n.given) > 1 && len(run[0]) > 2 {
			if slices.Contains(n.given[1:], run[0]) {
				return nameLoose
			}
		}
		return 0
	}
	return first * middlesAgree(run[1:], n.given[1:])
}

// middlesAgree compares middle names where both have them: "Wei Q. Wang" is
// not "Wei Z. Wang". Words that are no names (a run that began too early) do
// not agree either.
func middlesAgree(run, given []string) float64 {
	if len(run) == 0 || len(given) == 0 {
		if len(run) > 0 {
			for _, w := range run {
				if utf8.RuneCountInString(w) > 1 { // an unknown whole word between: perhaps a second given name
					return nameLoose
				}
			}
		}
		return 1
	}
	for i, w := range run[:min(len(run), len(given))] {
		if w[0] != given[i][0] {
			return 0.4
		}
	}
	return 1
}

// sameGiven compares two given names.
func sameGiven(a, b string) float64 {
	if s := sameWord(a, b); s > 0 {
		return s
	}
	if a == "" || b == "" {
		return 0
	}
	la, lb := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
	switch {
	case la == 1 || lb == 1:
		if a[0] == b[0] {
			return nameInitials
		}
		return 0
	case min(la, lb) >= 3 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a)): // Alex, Alexander; Xiao-Ming, Xiaoming
		return nameLoose
	case nicknames.same(a, b):
		return nameNick
	}
	return 0
}

// sameWord compares two words of names: 1 for the same letters, nameLoose for
// the same sound in another romanisation, else 0.
func sameWord(a, b string) float64 {
	switch {
	case a == b:
		return 1
	case len(a) < 3 || len(b) < 3:
		return 0
	case loose(a) == loose(b):
		return nameLoose
	}
	return 0
}

// loosely spells a folded name so that the usual romanisations of one name
// agree: Mueller and Muller, Sergey and Sergei, Khalid and Halid.
var loosely = strings.NewReplacer(
	"shch", "s", "sch", "s", "tsch", "c", "tch", "c", "kh", "h", "gh", "g", "zh", "z", "sh", "s", "ch", "c", "ph", "f", "th", "t", "ts", "c", "tz", "c",
	"ou", "u", "oo", "u", "ee", "i", "ei", "e", "ey", "e", "ai", "a", "ay", "a",
	"iy", "i", "yi", "i", "ij", "i", "yu", "u", "iu", "u", "ju", "u", "ya", "a", "ia", "a", "ja", "a", "ye", "e", "ie", "e", "je", "e",
	"y", "i", "j", "i", "w", "v", "q", "k", "ck", "k", "x", "ks", "dj", "i",
)

// umlauts are written out first: the e belongs to the vowel before it.
var umlauts = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u", "aa", "a")

func loose(s string) string {
	s = loosely.Replace(umlauts.Replace(s))
	var b strings.Builder
	var last rune
	for _, r := range s {
		if r != last {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// looksGiven reports whether a word beside a surname can be a given name or an
// initial, so that the mention is of somebody else.
func looksGiven(w string) bool {
	return strings.Trim(w, "0123456789") != "" && !nameNoise[w] && !particles[w]
}

// nameNoise are words that stand beside surnames without being names.
var nameNoise = wordSet(`a an the of and by for with at in on to from dr prof professor mr mrs ms home page homepage
	welcome website site web about is my am i me publications papers research research's group lab laboratory team
	contact cv vita by author authors edited editor et al copyright c university department
	and und et y e i assistant associate full emeritus phd student students`)

func wordSet(s string) map[string]bool {
	return each.Members(strings.Fields(s))
}
