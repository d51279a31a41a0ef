package text

import (
	"golang.org/x/text/unicode/norm"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Normalise reduces a title to what identifies it: lower-case letters and
// digits, without accents, HTML entities and tags, LaTeX commands, spaces or
// punctuation. "Erd&#337;s–R&eacute;nyi $\lambda$-graphs" is
// "erdosrenyilambdagraphs". Letters of other scripts than Latin and Greek are
// kept as they are.
func Normalise(title string) string {
	title = Plain(title)
	out := make([]byte, 0, len(title))
	for i := 0; i < len(title); {
		var n int
		out, n = AppendFolded(out, title[i:])
		i += n
	}
	return string(out)
}

// TitleWords splits a title into its normalised words; hyphens and apostrophes do
// not part words, as they come and go between two writings of a title.
func TitleWords(title string) []string {
	title = Plain(title)
	var out []string
	cur := make([]byte, 0, 16)
	flush := func() {
		if len(cur) > 0 {
			out = append(out, string(cur))
			cur = cur[:0]
		}
	}
	for i := 0; i < len(title); {
		r, n := utf8.DecodeRuneInString(title[i:])
		if Separates(r) {
			flush()
		}
		cur, n = AppendFolded(cur, title[i:i+n])
		i += n
	}
	flush()
	return out
}

// Separates reports whether a rune parts two words of a title.
func Separates(r rune) bool {
	switch r {
	case '-', '‐', '‑', '\'', '’', '`', '´', '¨', '˝', '^', '~', '+', '#', '"', '{', '}', '$', '_', '\u00ad':
		return false
	}
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

// AppendFolded appends the folded form of the first rune of s and returns how
// many bytes of s that rune took.
func AppendFolded(out []byte, s string) ([]byte, int) {
	c := s[0]
	if c < utf8.RuneSelf {
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			return append(out, c), 1
		case 'A' <= c && c <= 'Z':
			return append(out, c+'a'-'A'), 1
		case c == '&':
			return append(out, "and"...), 1
		case c == '+':
			return append(out, "plus"...), 1
		}
		return out, 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if latin := latinOf(r); latin != "" {
		return append(out, latin...), n
	}
	dec := norm.NFKD.PropertiesString(s[:n]).Decomposition()
	if dec == nil {
		return appendRune(out, r), n
	}
	for _, d := range string(dec) {
		if latin := latinOf(d); latin != "" {
			out = append(out, latin...)
			continue
		}
		out = appendRune(out, d)
	}
	return out, n
}

func appendRune(out []byte, r rune) []byte {
	if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		return out
	}
	return utf8.AppendRune(out, unicode.ToLower(r))
}

// latinOf spells the letters that Unicode does not decompose, and Greek ones by
// name, since a title has "λ" in one place and "lambda" in another.
func latinOf(r rune) string {
	switch {
	case 0x391 <= r && r <= 0x3a9:
		return greekNames[r-0x391]
	case 0x3b1 <= r && r <= 0x3c9:
		return greekNames[r-0x3b1]
	}
	return latin[r]
}

var latin = map[rune]string{
	'ø': "o", 'Ø': "o", 'ł': "l", 'Ł': "l", 'ℓ': "l", 'đ': "d", 'Đ': "d", 'ð': "d", 'Ð': "d", 'ı': "i", 'ȷ': "j",
	'æ': "ae", 'Æ': "ae", 'œ': "oe", 'Œ': "oe", 'ß': "ss", 'ẞ': "ss", 'þ': "th", 'Þ': "th", 'ħ': "h", 'Ħ': "h",
	'ŋ': "ng", 'Ŋ': "ng", 'ϕ': "phi", 'ϵ': "epsilon", 'ϑ': "theta",
}

var greekNames = [...]string{
	"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota",
	"kappa", "lambda", "mu", "nu", "xi", "omicron", "pi", "rho", "sigma", "sigma",
	"tau", "upsilon", "phi", "chi", "psi", "omega",
}

// Plain undoes HTML and LaTeX. Text without '&', '<' and '\' comes back as it is.
func Plain(s string) string {
	if strings.IndexByte(s, '&') >= 0 {
		// Twice: some sources escape what was escaped already.
		s = html.UnescapeString(html.UnescapeString(s))
	}
	if strings.IndexByte(s, '<') >= 0 {
		s = WithoutTags(s)
	}
	if strings.IndexByte(s, '\\') >= 0 {
		s = FromTeX(s)
	}
	return s
}

// Head is the beginning of s: whole characters, at most n bytes.
func Head(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }

// longestTag is how far the end of a tag is looked for, in bytes.
const longestTag = 500

// WithoutTags drops the mark-up that occurs in titles. Only known names count
// as tags: "a<b and c>d" stays.
func WithoutTags(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		end := strings.IndexByte(s[:min(len(s), longestTag)], '>')
		if end < 0 || !isTag(s[1:end]) {
			b.WriteByte('<')
			s = s[1:]
			continue
		}
		s = s[end+1:]
	}
}

func isTag(inner string) bool {
	name := strings.ToLower(strings.Trim(inner, "/ \n"))
	if i := strings.IndexAny(name, " \t\n"); i >= 0 {
		if !strings.Contains(name, "=") { // "a<b and c>d" is no tag
			return false
		}
		name = name[:i]
	}
	if strings.HasPrefix(name, "mml:") || strings.HasPrefix(name, "jats:") {
		return true
	}
	switch name {
	case "i", "b", "u", "em", "strong", "sub", "sup", "tt", "small", "span", "scp", "sc",
		"p", "br", "ref", "italic", "bold", "inf", "title", "math", "mi", "mo", "mn", "mrow", "font", "fixed-case", "tex-math", "url":
		return true
	}
	return false
}
