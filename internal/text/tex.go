package text

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// accents are the combining marks of TeX's accent commands.
var accents = map[string]rune{
	"`": 0x300, "'": 0x301, "^": 0x302, "~": 0x303, "=": 0x304, "u": 0x306, ".": 0x307,
	`"`: 0x308, "r": 0x30a, "H": 0x30b, "v": 0x30c, "d": 0x323, "c": 0x327, "k": 0x328, "b": 0x331,
}

// symbols are the letters and signs that TeX has commands for.
var symbols = map[string]string{
	"o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å",
	"i": "ı", "j": "ȷ", "dh": "ð", "th": "þ", "textendash": "–", "textemdash": "—", "ldots": "…", "dots": "…", "ell": "ℓ",
	"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ", "iota": "ι",
	"kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "omicron": "ο", "pi": "π", "rho": "ρ", "sigma": "σ",
	"tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ",
	"Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "varepsilon": "ε",
	"vartheta": "ϑ", "varphi": "φ", "varpi": "π", "varrho": "ρ", "varsigma": "ς",
	"textasciitilde": "~", "textunderscore": "_", "infty": "∞", "times": "×", "textregistered": "®", "textquotesingle": "'", "textbraceleft": "{", "textbraceright": "}", "textasciicircum": "^", "textbackslash": `\`,
}

// FromTeX turns what is written for TeX into plain text: accents and letters as
// Unicode, other commands and braces gone.
func FromTeX(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '{', '}', '$':
			i++
		case '~':
			b.WriteByte(' ')
			i++
		case '\\':
			text, n := command(s[i+1:])
			b.WriteString(text)
			i += 1 + n
		case '-':
			n := len(s[i:]) - len(strings.TrimLeft(s[i:], "-"))
			b.WriteString([]string{"", "-", "–", "—"}[min(n, 3)])
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return strings.Join(strings.Fields(norm.NFC.String(b.String())), " ")
}

// command reads one TeX command behind its backslash and returns what it prints
// and how many bytes it takes.
func command(s string) (text string, n int) {
	if s == "" {
		return "", 0
	}
	for n < len(s) && (s[n]|0x20) >= 'a' && (s[n]|0x20) <= 'z' {
		n++
	}
	n = cmp.Or(n, 1)
	name := s[:n]
	if mark, ok := accents[name]; ok {
		letter, m := accented(s[n:])
		if letter != 0 {
			return string([]rune{letter, mark}), n + m
		}
		return "", n
	}
	if t, ok := symbols[name]; ok {
		if n < len(s) && s[n] == ' ' {
			n++
		}
		return t, n
	}
	if name[0] > 0x7f || strings.IndexByte("&%$#_{}-,;:! \\/", name[0]) >= 0 {
		switch name[0] {
		case '&', '%', '$', '#', '_', '{', '}':
			return name, n
		case ' ', '\\', ',', ';', ':':
			return " ", n
		}
		return "", min(n, 1)
	}
	if n < len(s) && s[n] == ' ' && unicode.IsLetter(rune(name[0])) {
		n++ // TeX eats the space behind a command
	}
	return "", n
}

// accented finds the letter that an accent goes on: \'e, \'{e}, \'{\i}, \v c.
func accented(s string) (letter rune, n int) {
	rest := strings.TrimLeft(s, " {")
	n = len(s) - len(rest)
	if strings.HasPrefix(rest, `\i`) || strings.HasPrefix(rest, `\j`) {
		return rune(rest[1]), n + 2
	}
	if r, size := utf8.DecodeRuneInString(rest); unicode.IsLetter(r) {
		return r, n + size
	}
	return 0, 0
}
