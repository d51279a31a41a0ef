package hardset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"

	"golang.org/x/text/unicode/norm"
)

// person is somebody in the made-up world.
type person struct {
	author      gleaner.Author
	given, last string
	middle      string // initial, or ""
	culture     culture
	field       int
	uni         institution
	coAuthors   []*person
	wanted      []gleaner.Paper
	others      []string // titles of further papers
	situation   string
	login       string
	shown       string   // the name as their page writes it
	homepages   []string // the truth
}

// institution is a university's department with its server.
type institution struct {
	name, host, dept string
}

// topics are the words of a research field's titles.
type topics struct {
	area  string
	nouns []string
	aims  []string
}

var fields = []topics{
	{"databases", split("joins views indexes transactions schemas tuples streams queries warehouses triggers"), split("optimization maintenance integration rewriting sampling recovery provenance cleaning")},
	{"learning theory", split("bandits kernels halfspaces experts regret margins predictors hypotheses samples classifiers"), split("boosting compression regularization exploration generalization calibration privacy")},
	{"verification", split("programs invariants abstractions automata traces contracts loops heaps protocols concurrency"), split("synthesis checking refinement termination testing proofs localization")},
	{"cryptography", split("signatures commitments ciphers oracles lattices hashes channels keys sponges proofs"), split("indistinguishability composition reductions leakage authentication forgery obfuscation")},
	{"language processing", split("parsers treebanks grammars dialogues embeddings corpora discourse lexicons captions metaphors"), split("disambiguation translation annotation summarization alignment grounding segmentation")},
	{"networks", split("routers overlays packets wireless topologies congestion caches sensors flows switches"), split("scheduling measurement routing multicast provisioning localization resilience")},
	{"algorithms", split("graphs matroids spanners trees strings polytopes hypergraphs colorings sketches geometry"), split("approximation partitioning enumeration embedding sparsification counting lower-bounds")},
	{"vision", split("images shapes contours textures cameras surfaces motion features scenes faces"), split("segmentation registration tracking reconstruction recognition matching denoising")},
}

var (
	adjectives = split("efficient robust incremental distributed probabilistic adaptive scalable optimal approximate modular symbolic online lightweight nearly-linear declarative semantic sparse parallel")
	shapes     = []string{"%[1]s %[2]s for %[4]s of %[3]s", "On the %[4]s of %[1]s %[2]s", "%[2]s meet %[3]s: %[1]s %[4]s revisited", "Towards %[1]s %[4]s with %[2]s and %[3]s", "A %[1]s approach to %[2]s %[4]s", "%[4]s without %[3]s: the case of %[1]s %[2]s", "How hard is %[4]s of %[2]s under %[1]s %[3]s?", "%[1]s %[4]s in the presence of noisy %[2]s"}
)

// title makes one up. Titles of one field resemble each other.
func title(r *rand.Rand, f topics) string {
	s := fmt.Sprintf(pick(r, shapes), pick(r, adjectives), pick(r, f.nouns), pick(r, f.nouns), pick(r, f.aims))
	return strings.ToUpper(s[:1]) + s[1:]
}

var (
	towns = split("Ashford Brookvale Carrington Dunmore Eastlake Farnley Glenrock Hollins Ironbridge Kelso Lindholm Marbury Northgate Oakhurst Pinecrest Ravenna Stanwick Tilbury Westmere Yarrow")
	depts = []string{"cs", "www.cs", "www.informatik", "math", "www.eecs", "www.di", "people.cs", "www", "homepages.inf", "users.cs"}
)

func makeInstitution(r *rand.Rand, c culture, i int) institution {
	town := pick(r, towns)
	host := fmt.Sprintf("%s.%s%d.%s", pick(r, depts), strings.ToLower(town), i, strings.TrimPrefix(c.tld, "."))
	return institution{name: "University of " + town, host: host, dept: "Department of " + pick(r, []string{"Computer Science", "Informatics", "Mathematics", "Electrical Engineering and Computer Science"})}
}

// ascii drops accents as log-in names and host names do.
func ascii(s string) string {
	s = strings.NewReplacer("ß", "ss", "ø", "o", "Ø", "O", "ł", "l", "Ł", "L", "đ", "d", "Đ", "D", "æ", "ae", "ı", "i").Replace(s)
	var b strings.Builder
	for _, c := range norm.NFD.String(strings.ToLower(s)) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == ' ' {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// loginOf makes a log-in name of one of the usual forms; some say nothing.
func loginOf(r *rand.Rand, p *person) string {
	g, l := strings.ReplaceAll(ascii(p.given), " ", ""), strings.ReplaceAll(ascii(p.last), " ", "")
	if i := strings.LastIndex(ascii(p.last), " "); i >= 0 && chance(r, 0.5) {
		l = ascii(p.last)[i+1:]
	}
	switch r.IntN(9) {
	case 0, 1, 2:
		return l
	case 3, 4:
		return g[:1] + l
	case 5:
		return g + l
	case 6:
		return g
	case 7:
		return g + l[:1]
	default:
		return fmt.Sprintf("%c%c%d", g[0], l[0], 10+r.IntN(900))
	}
}

// fullName is the name as the metadata has it.
func (p *person) fullName() string {
	if p.middle != "" {
		return p.given + " " + p.middle + ". " + p.last
	}
	return p.given + " " + p.last
}

// namesakes is the share of people that bear another's whole name. As in life
// they seldom work in one field.
const namesakes = 0.1

// makePeople draws n people.
func makePeople(r *rand.Rand, n int) []*person {
	pools := some(r, cultures, 0.7)
	for i := range pools {
		pools[i].given, pools[i].surnames = some(r, pools[i].given, 0.7), some(r, pools[i].surnames, 0.7)
	}
	var unis []institution
	var people []*person
	taken := map[string]bool{}
	for i := range n {
		p := drawPerson(r, pools)
		for range 50 {
			if !taken[p.given+" "+p.last] {
				break
			}
			p = drawPerson(r, pools)
		}
		if i > 20 && chance(r, namesakes) {
			o := pick(r, people)
			p.given, p.last, p.middle, p.culture = o.given, o.last, o.middle, o.culture
			p.field = (o.field + 1 + r.IntN(len(fields)-1)) % len(fields)
		}
		taken[p.given+" "+p.last] = true
		if len(unis) < 12 || chance(r, 0.25) {
			unis = append(unis, makeInstitution(r, p.culture, len(unis)))
		}
		p.uni = pick(r, unis)
		p.author = gleaner.Author{PID: fmt.Sprintf("%d/%d", 10+r.IntN(300), 1000+i), Name: p.fullName()}
		p.login, p.shown = loginOf(r, p), p.fullName()
		people = append(people, p)
	}
	return people
}

func drawPerson(r *rand.Rand, pools []culture) *person {
	c := pick(r, pools)
	p := &person{given: pick(r, c.given), last: pick(r, c.surnames), culture: c, field: r.IntN(len(fields))}
	if chance(r, c.middle) {
		p.middle = string(rune('A' + r.IntN(26)))
	}
	if c.double && chance(r, 0.5) {
		p.last += " " + pick(r, c.surnames)
	}
	return p
}

// makePapers gives groups of two to four people of one field papers together.
func makePapers(r *rand.Rand, people []*person) {
	byField := each.By(people, func(p *person) int { return p.field })
	for i, p := range people {
		for k := range 1 + r.IntN(4) {
			paper := gleaner.Paper{Key: fmt.Sprintf("conf/hard/p%d-%d", i, k), Venue: "conf/hard", Year: 1998 + r.IntN(20), Title: title(r, fields[p.field])}
			authors := []*person{p}
			for range max(0, r.IntN(5)-1) {
				o := pick(r, byField[p.field])
				if !slices.Contains(authors, o) {
					authors = append(authors, o)
				}
			}
			r.Shuffle(len(authors), func(a, b int) { authors[a], authors[b] = authors[b], authors[a] })
			paper.Authors = each.Of(authors, func(a *person) gleaner.Author { return a.author })
			for _, a := range authors {
				a.wanted = append(a.wanted, paper)
				for _, b := range authors {
					if a != b && !slices.Contains(a.coAuthors, b) {
						a.coAuthors = append(a.coAuthors, b)
					}
				}
			}
		}
		for range 2 + r.IntN(6) {
			p.others = append(p.others, title(r, fields[p.field]))
		}
	}
}
