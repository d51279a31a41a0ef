package match

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

//go:embed generic.txt
var genericFile string

// generic holds the titles of generic.txt, as folded words.
var generic = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(genericFile) {
		if name := uncounted(text.Words(line)); name != "" && !strings.HasPrefix(line, "#") {
			out[name] = true
		}
	}
	return out
})

// Unidentifiable returns why a paper's title cannot identify a document, or "". Catalogues list parts
// that are no works, and lists read by a program have sentences and names as titles. Such a paper
// needs exactly these words over all of its authors, or an identifier; a link with these words is
// no evidence.
func Unidentifiable(p gleaner.Paper) string {
	title := strings.TrimSpace(text.Plain(p.Title))
	words := text.Words(title)
	switch {
	case strings.IndexFunc(title, unicode.IsLetter) < 0:
		return "it has no title"
	case generic()[uncounted(words)]:
		return "many works are called so"
	case namesAlone(title, p.Authors):
		return "its title is a list of names"
	case sentence(title, words):
		return "its title is a sentence out of a text"
	}
	return ""
}

// uncounted returns a title without its number in a series: "Author Index, Vol. 12 (2003)".
func uncounted(words []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(words), counts), " ")
}

func counts(w string) bool {
	switch w {
	case "vol", "volume", "no", "number", "part", "issue", "band", "heft", "tome", "numero":
		return true
	}
	return roman(w) || strings.IndexFunc(w, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
}

var between = regexp.MustCompile(`(?:[,;&]\s*|\s)+(?:and|und|et|y|e|i|og|och|en)\s+|\s*[,;&]\s*`)

// namesAlone reports whether a title has only names: at least two, of the paper's authors or with
// initials among words that all begin like names.
func namesAlone(title string, authors []gleaner.Author) bool {
	for _, and := range []string{"and ", "und ", "et "} {
		title = strings.TrimPrefix(title, and)
	}
	parts := slices.DeleteFunc(between.Split(strings.Trim(title, " .,;"), -1), func(s string) bool { return s == "" })
	own, initials := 0, 0
	for _, part := range parts {
		words := strings.Fields(part)
		if slices.ContainsFunc(authors, func(a gleaner.Author) bool { return sameWords(a.Name, part) }) {
			own++
			continue
		}
		if len(words) > 5 || !likeName(words) {
			return false
		}
		if slices.ContainsFunc(words, initial) {
			initials++
		}
	}
	switch {
	case own > 0 && own == len(parts):
		return true
	case len(parts) < 2:
		return false
	case own > 0:
		return 2*(own+initials) >= len(parts) && full(parts)
	}
	return initials >= 2 && 2*initials >= len(parts) || initials >= 1 && len(parts) >= 4 && full(parts)
}

// full reports whether all parts have at least two words, as names do.
func full(parts []string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return len(strings.Fields(p)) < 2 })
}

func sameWords(a, b string) bool {
	x, y := text.Words(a), text.Words(b)
	slices.Sort(x)
	slices.Sort(y)
	return len(x) > 0 && slices.Equal(x, y)
}

// likeName reports whether every word begins like one of a name.
func likeName(words []string) bool {
	for _, w := range words {
		r, n := utf8.DecodeRuneInString(w)
		if particle(w) {
			continue
		}
		if !unicode.IsUpper(r) || strings.IndexFunc(w[n:], unicode.IsDigit) >= 0 {
			return false
		}
	}
	return true
}

func particle(w string) bool {
	switch w {
	case "de", "del", "della", "der", "den", "di", "da", "dos", "du", "el", "la", "le", "ten", "ter", "van", "von", "zu", "bin", "ibn":
		return true
	}
	return false
}

// initial reports whether a word is like "J." or "J.-P.", but not "U.S.".
func initial(w string) bool {
	for part := range strings.SplitSeq(w, "-") {
		r, n := utf8.DecodeRuneInString(part)
		if !unicode.IsUpper(r) || part[n:] != "." {
			return false
		}
	}
	return true
}

// selfReference matches words by which a text refers to itself, between spaces.
var selfReference = regexp.MustCompile(` (?:` + strings.Join([]string{
	`we (?:also )?(?:prove|show|present|study|give|obtain|introduce|propose|describe|discuss|consider|demonstrate|establish|find|investigate)`,
	`(?:this|our) (?:paper|article|work|note|chapter|report|thesis|preprint|pre preprint) (?:is|was|will|has|presents?|describes?|shows?|gives?|studies|discusses|introduces|proposes|proves|appears|appeared)`,
	`in this (?:paper|article|work|note|chapter|report|thesis)`, `you (?:may|must|are|should|can) `, `it is being`, `will be (?:a )?part of`,
	`wir (?:zeigen|beweisen|stellen|beschreiben|untersuchen|geben)`, `in dies(?:er arbeit|em artikel|em beitrag)`,
	`nous (?:montrons|prouvons|presentons|etudions|proposons|donnons|demontrons)`, `(?:dans|de) cet article`, `dans ce (?:travail|papier|memoire)`,
	`(?:en|de) este (?:articulo|trabajo)`, `(?:demostramos|presentamos|estudiamos) (?:que|un|una|el|la)`,
	`(?:neste|deste) (?:artigo|trabalho)`, `(?:mostramos|apresentamos|estudamos) (?:que|um|uma|o|a)`,
	`in questo (?:articolo|lavoro)`, `(?:dimostriamo|presentiamo|studiamo|mostriamo) (?:che|un|una|il|la)`,
	`w (?:tej|niniejszej) pracy`, `в (?:этой|данной|настоящей) (?:работе|статье)`, `у (?:цій|даній) (?:роботі|статті)`,
}, "|") + `)`)

// fragment matches the start of a text cut out of a sentence.
var fragment = regexp.MustCompile(`^(?:is|are|was|were|has|have|and|or|which|that|where|whose|then|est|sont|ist|sind|und|oder) `)

// sentence reports whether a title was cut out of running text: it is long, and refers to itself,
// begins within a sentence, or only defines something. Questions are titles.
func sentence(title string, words []string) bool {
	first, _ := utf8.DecodeRuneInString(title)
	line := strings.Join(words, " ")
	switch {
	case len(words) < 10 || strings.HasSuffix(title, "?"):
		return false
	case selfReference.MatchString(" " + line + " "):
		return true
	case unicode.IsLower(first) && fragment.MatchString(line):
		return true
	}
	return len(words) >= 18 && !strings.ContainsAny(title, ":?") && definition.MatchString(line)
}

// definition matches the words of a definition.
var definition = regexp.MustCompile(` (?:is|are) (?:an?|the) .* (?:in which|such that|whose|where|for which|that is) `)
