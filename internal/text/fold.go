package text

import (
	"golang.org/x/text/unicode/norm"
	"strings"
	"unicode"
	"unicode/utf8"
)

// letterFolds are letters that do not decompose into a base and an accent, and
// the two alphabets that have one usual romanisation.
var letterFolds = strings.NewReplacer(
	"ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i", "ħ", "h",
	"а", "a", "б", "b", "в", "v", "г", "g", "д", "d", "е", "e", "ё", "e", "ж", "zh", "з", "z", "и", "i", "й", "i",
	"к", "k", "л", "l", "м", "m", "н", "n", "о", "o", "п", "p", "р", "r", "с", "s", "т", "t", "у", "u", "ф", "f",
	"х", "kh", "ц", "ts", "ч", "ch", "ш", "sh", "щ", "shch", "ъ", "", "ы", "y", "ь", "", "э", "e", "ю", "yu", "я", "ya",
	"і", "i", "ї", "i", "є", "e", "ґ", "g",
	"α", "a", "β", "v", "γ", "g", "δ", "d", "ε", "e", "ζ", "z", "η", "i", "θ", "th", "ι", "i", "κ", "k", "λ", "l",
	"μ", "m", "ν", "n", "ξ", "x", "ο", "o", "π", "p", "ρ", "r", "σ", "s", "ς", "s", "τ", "t", "υ", "y", "φ", "f",
	"χ", "ch", "ψ", "ps", "ω", "o",
	"’", "'", "‘", "'", "`", "'", "´", "'", "‐", "-", "‑", "-", "–", "-", "—", "-",
)

// Fold makes text comparable: lower case, without accents, romanised.
func Fold(s string) string {
	folded := strings.ToLower(s)
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return folded
	}
	s = folded
	var b strings.Builder
	b.Grow(len(s))
	// й decomposes like an accented letter but is one of its own; the replacer
	// sees it composed first.
	for _, r := range norm.NFKD.String(letterFolds.Replace(norm.NFC.String(s))) {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(r)
		}
	}
	return letterFolds.Replace(b.String())
}

// Words are the folded runs of letters and digits. Apostrophes vanish (O'Brien
// is obrien) with the s of a possessive (Doe's is doe); hyphens separate.
func Words(s string) []string {
	out := strings.FieldsFunc(Fold(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	kept := out[:0]
	for _, w := range out {
		if strings.ContainsRune(w, '\'') {
			w = strings.ReplaceAll(strings.TrimSuffix(strings.Trim(w, "'"), "'s"), "'", "")
		}
		if w != "" {
			kept = append(kept, w)
		}
	}
	return kept
}

// Names are the words of a text that may be part of a name: those with a letter that is not a
// small one.
func Names(s string) []string {
	var b strings.Builder
	for word := range strings.FieldsSeq(s) {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) && !unicode.IsLower(r) }) {
			b.WriteString(word)
			b.WriteByte(' ')
		}
	}
	return Words(b.String())
}

// Letters is the text's folded letters and digits alone: equal for two
// spellings that differ in spaces, hyphens, case and accents.
func Letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, Fold(s))
}
