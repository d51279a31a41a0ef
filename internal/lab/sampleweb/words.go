package sampleweb

import (
	"math/rand/v2"
	"strings"
)

// The vocabulary of the generated world. Small on purpose: titles then share
// words, as real ones of one venue do, and have to be told apart.
var (
	firstNames   = strings.Fields("Ada Bruno Carmen Dmitri Elena Farid Grace Hiro Ingrid José Katarzyna Lars Mei Nadia Olga Pedro Quentin Rosa Søren Tamar Ulrich Vera Wendell Ximena Yusuf Zofia Amara Björn Chloé Dario")
	lastNames    = strings.Fields("Fenwick Okafor Lindqvist Moreau Takahashi Petrov Castellanos Whitlock Jørgensen Banerjee Novák Ferreira Abernathy Müller Kowalski Dubois Hashimoto Rasmussen Villanueva Ostrowski Bellweather Nakagawa Haddad Thornbury Eriksson Santangelo Grünwald Mbeki Halvorsen Quintero")
	adjectives   = strings.Fields("adaptive incremental distributed approximate declarative lazy robust probabilistic scalable succinct temporal partial concurrent semistructured optimal versioned")
	gerunds      = strings.Fields("indexing caching validating rewriting sampling compressing querying clustering ranking scheduling mining routing typing matching summarizing replicating")
	things       = strings.Fields("views streams graphs schemas constraints wrappers ontologies joins transactions documents queries sketches catalogs workflows annotations mediators")
	domains      = strings.Fields("sensors libraries peers spreadsheets archives genomes maps auctions calendars hospitals newspapers museums satellites vineyards harbours orchestras")
	properties   = strings.Fields("complexity expressiveness consistency freshness provenance locality selectivity stability")
	universities = strings.Fields("northfield lakeview easthaven montrose")
	topics       = strings.Fields("databases compilers networks statistics robotics cryptography graphics logic")
)

func pick(r *rand.Rand, words []string) string { return words[r.IntN(len(words))] }

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// title makes a paper's title of four to eleven words.
func title(r *rand.Rand) string {
	adj, adj2 := pick(r, adjectives), pick(r, adjectives)
	ger, thing, dom, prop := pick(r, gerunds), pick(r, things), pick(r, domains), pick(r, properties)
	switch r.IntN(6) {
	case 0:
		return capital(ger) + " " + capital(adj) + " " + capital(thing) + " over " + capital(dom)
	case 1:
		return "On the " + capital(prop) + " of " + capital(adj) + " " + capital(thing) + " for " + capital(dom)
	case 2:
		return codeName(r) + ": " + capital(adj) + " " + capital(ger) + " of " + capital(thing) + " in " + capital(dom)
	case 3:
		return "Towards " + capital(adj) + " and " + capital(adj2) + " " + capital(ger) + " for " + capital(dom)
	case 4:
		return "How " + capital(adj) + " " + capital(thing) + " Help When " + capital(ger) + " " + capital(dom)
	default:
		return "The " + capital(prop) + " of " + capital(ger) + " " + capital(thing) + " with " + capital(adj) + " " + capital(dom)
	}
}

func codeName(r *rand.Rand) string { return strings.ToUpper(Word(r, 2)) }

// Word makes a word of so many syllables, or one more.
func Word(r *rand.Rand, syllables int) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for range syllables + r.IntN(2) {
		b.WriteByte(consonants[r.IntN(len(consonants))])
		b.WriteByte(vowels[r.IntN(len(vowels))])
	}
	return b.String()
}

// sentence is one of the things that papers say.
func sentence(r *rand.Rand) string {
	adj, ger, thing, dom, prop := pick(r, adjectives), pick(r, gerunds), pick(r, things), pick(r, domains), pick(r, properties)
	switch r.IntN(9) {
	case 0:
		return "In this paper we study " + adj + " " + thing + " and the cost of " + ger + " them."
	case 1:
		return "Our approach reduces the " + prop + " problem to " + ger + " " + adj + " " + thing + "."
	case 2:
		return "We show that the " + prop + " of " + thing + " can be decided in polynomial time when " + dom + " are " + adj + "."
	case 3:
		return "Previous work on " + ger + " " + dom + " assumed that all " + thing + " were known in advance."
	case 4:
		return "The experiments on " + dom + " confirm that " + adj + " " + ger + " pays off for large " + thing + "."
	case 5:
		return "Let us consider a set of " + thing + " whose " + prop + " is bounded by a constant."
	case 6:
		return "As a consequence, " + ger + " becomes feasible even where " + thing + " are " + adj + "."
	case 7:
		return "Figure " + string(rune('1'+r.IntN(6))) + " compares the " + prop + " of both methods over " + dom + "."
	default:
		return "This observation leads to an " + adj + " algorithm for " + ger + " the " + thing + " of " + dom + "."
	}
}

func paragraph(r *rand.Rand, sentences int) string {
	parts := make([]string, sentences)
	for i := range parts {
		parts[i] = sentence(r)
	}
	return strings.Join(parts, " ")
}

var plainLetters = strings.NewReplacer(
	"á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u", "ø", "o", "ö", "oe", "ü", "ue", "ä", "ae", "ñ", "n",
	"Á", "A", "É", "E", "Ø", "O", "Ö", "Oe", "Ü", "Ue", "ß", "ss")

// ascii spells a name for a login or a host.
func ascii(s string) string { return strings.ToLower(plainLetters.Replace(s)) }
