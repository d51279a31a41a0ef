package document

import (
	"math"
	"regexp"
	"strings"
	"unicode"
)

// Features are the structural features of a text, in the line of the 45 of
// CiteSeerX's document content filter (Wu et al., WIDM 2012), computed from
// text and layout. NaN marks what could not be known.
type Features []float64

// featureNames names them in order. The first sharedFeatures are also in the
// published training set of CiteSeerX's filter (43 features) with the same
// meaning.
var featureNames = []string{
	"log-pages", "log-words-per-page", "title-case-words", "symbols", "lines-capital",
	"this-paper", "this-paper-at", "this-book", "this-thesis", "this-document", "this-chapter", "this-section",
	"references", "abstract", "abstract-at", "acknowledgements", "introduction", "introduction-at",
	"conclusion", "log-reference-count", "research-interests", "education", "publications-heading",
	"structure", "structure-rule",

	"landscape", "page-area", "letter-size", "title-over-body", "words-first-page",
	"citations", "affiliation", "email", "figures", "theorems", "et-al", "we", "first-person",
	"numbered-headings", "bullets", "long-lines", "course-words", "course-front", "question-numbers", "cv-words", "cv-front",
	"years", "thesis-front", "contents", "supplement-front", "proceedings-front", "keywords-front", "talk-front", "short", "sentences",
	"name-course", "name-cv", "name-talk", "name-thesis", "name-poster", "tiny-file",
}

// sharedFeatures is how many of featureNames the published set knows.
const sharedFeatures = 25

// FeatureNames returns the names of Features, in order.
func FeatureNames() []string { return append([]string(nil), featureNames...) }

// Hints are what is known of a document besides its text.
type Hints struct {
	Name   string // file name or URL
	Anchor string // text of the link that led there
}

var (
	headingAbstract = heading(`abstract|summary|zusammenfassung|kurzfassung|résumé|resumen|resumo|sommario|riassunto`)
	headingIntro    = heading(`introduction|motivation|background|overview and motivation|introduction and .*|einleitung|einführung|introducción|introdução|introduzione`)
	headingConcl    = heading(`conclusions?|concluding remarks|conclusions? and .*|discussion and .*|discussion|summary and .*|future work|final remarks|conclusions?[,:].*|zusammenfassung und .*|fazit|conclusión|conclusiones|conclusão|conclusões|considerações finais|conclusioni`)
	headingAck      = heading(`acknowledge?ments?|acknowledge?ments?[.:].*`)
	headingRefs     = heading(`references|bibliography|literature cited|works cited|literature|references and notes|references cited|selected references|literatur(?:verzeichnis)?|références|bibliographie|referencias|bibliografía|referências|bibliografia|riferimenti bibliografici`)
	headingContents = heading(`(?:table of )?contents|inhalt(?:sverzeichnis)?|outline|agenda`)

	abstractInline = regexp.MustCompile(`(?i)(?:^|\n)\W{0,3}(?:abstract|summary)\s*[.:—–-]`)
	introSpaced    = regexp.MustCompile(`(?:^|\n)\W{0,3}(?:1|I)?\.?\s*I\s?NTRODUCTION\b`)
	abstractSpaced = regexp.MustCompile(`(?:^|\n)\W{0,3}A\s?BSTRACT\b`)
	refsSpaced     = regexp.MustCompile(`(?:^|\n)\W{0,3}R\s?EFERENCES\b`)
	thisPaper      = regexp.MustCompile(`(?i)\b(?:this|present|our)\s+(?:paper|article|work)\b|\bin this (?:letter|note|study|manuscript)\b|\b(?:este|neste) (?:artigo|artículo|trabalho|trabajo)\b|\bdiese[rm]? (?:arbeit|beitrag|artikel)\b|\bcet article\b`)
	thisBook       = regexp.MustCompile(`(?i)\bthis\s+book\b`)
	thisThesis     = regexp.MustCompile(`(?i)\bthis\s+(?:thesis|dissertation)\b`)
	thisDocument   = regexp.MustCompile(`(?i)\bthis\s+document\b`)
	thisChapter    = regexp.MustCompile(`(?i)\bthis\s+chapter\b|\bchapter\s+1\b`)
	thisSection    = regexp.MustCompile(`(?i)\bthis\s+section\b`)
	interests      = regexp.MustCompile(`(?i)\bresearch\s+(?:interests?|experience)\b`)
	education      = regexp.MustCompile(`(?i)(?:^|\n)\s*education\b`)
	publications   = regexp.MustCompile(`(?i)(?:^|\n)\s*(?:selected |recent |refereed |journal |conference )*publications?\b`)

	citation     = regexp.MustCompile(`\[[0-9]{1,3}(?:\s*[,–-]\s*[0-9]{1,3})*\]|\[[A-Z][A-Za-z+]{1,6}[0-9]{2}[a-z]?\]|\([A-Z][^()\n]{1,60},? (?:19|20)[0-9]{2}[a-z]?\)`)
	affiliation  = regexp.MustCompile(`(?i)\b(?:universit|institut|department|laborator|college|school of|research center|faculty of|inc\.|corporation|cnrs|inria)`)
	emailMark    = regexp.MustCompile(`(?i)[a-z0-9._}-]\s?@\s?[a-z0-9.-]+\.[a-z]{2,}|\be-?mail\b`)
	figureMark   = regexp.MustCompile(`\b(?:Figure|Fig\.|Table|FIGURE|TABLE)\s+[0-9IVX]+`)
	theoremMark  = regexp.MustCompile(`\b(?:Theorem|Lemma|Definition|Proposition|Corollary|Proof|Algorithm|Equation|Eq\.)\b`)
	etAl         = regexp.MustCompile(`\bet al\b`)
	weMark       = regexp.MustCompile(`\b(?:We|we|our|Our)\b`)
	firstPerson  = regexp.MustCompile(`\b(?:I|my|My|me|you|You|your)\b`)
	numberedHead = regexp.MustCompile(`(?m)^\s*(?:[1-9](?:\.[1-9][0-9]?){0,2}|[IVX]{1,4})\.?\s{1,4}[A-Z][A-Za-z]{2,}[A-Za-z ,:-]{0,60}$`)
	bullet       = regexp.MustCompile(`(?m)^\s*[•●◦▪▶►■□–➢❖✓∗-]\s*\S`)
	courseWords  = regexp.MustCompile(`(?i)\b(?:homework|assignments?|syllabus|midterm|final exam|exams?|quiz(?:zes)?|grad(?:e|ing)|points|due (?:date|by|on)|office hours|lectures?|exercises?|students?|course|problem set|solutions? to|instructor|worksheet|tutorial)\b`)
	courseFront  = regexp.MustCompile(`(?i)\b(?:homework|assignment|syllabus|midterm|final exam|quiz|problem set|exercise sheet|worksheet|lecture (?:notes|[0-9]+)|office hours|instructor:|due:?|course (?:notes|number|description)|practice problems|project description|semester|spring|fall 20)\b`)
	questions    = regexp.MustCompile(`(?im)^\s*(?:problem|question|exercise|task|part)\s+[0-9a-h]+\b|^\s*\(?[a-h1-9]\)\s|\b\(?[0-9]+\s?(?:points|pts|marks)\)?`)
	cvWords      = regexp.MustCompile(`(?i)\b(?:curriculum vitae|r[eé]sum[eé]|employment|positions? held|appointments?|awards?|honors?|fellowships?|invited talks?|program committee|references available|advisor|teaching (?:experience|assistant)|service|reviewer|ph\.?d\.?|b\.?sc?\.?|m\.?sc?\.?|gpa|grants?)\b`)
	cvFront      = regexp.MustCompile(`(?i)curriculum vitae|(?:^|\n)\s*(?:c\.?v\.?|r[eé]sum[eé]|education|employment|academic (?:positions|appointments)|research interests?|biographical sketch|professional preparation|teaching statement|research statement|experience)\s*:?\s*(?:\n|$)`)
	yearMark     = regexp.MustCompile(`\b(?:19[6-9][0-9]|20[0-4][0-9])\b`)
	thesisFront  = regexp.MustCompile(`(?i)\b(?:thesis|dissertation)\b|partial ful?fill?ment|\bdegree of\b|\bsubmitted (?:to|in|for)\b.{0,80}\b(?:degree|university)|\bsupervis(?:or|ed)\b`)
	supplFront   = regexp.MustCompile(`(?i)\b(?:supplement(?:ary|al)?(?: material)?|errat(?:a|um)|corrigendum|online appendix|web appendix)\b`)
	procFront    = regexp.MustCompile(`(?i)\b(?:proceedings|journal of|transactions on|conference on|workshop on|vol(?:ume|\.)?\s*[0-9]+|arxiv:|doi[:.]|issn|isbn|permission to make|copyright|preprint|technical report|to appear|published in|lecture notes in)\b`)
	keywordFront = regexp.MustCompile(`(?i)(?:^|\n)\W{0,3}(?:key ?words|index terms|general terms|categories and subject|ccs concepts|acm reference format)`)
	talkFront    = regexp.MustCompile(`(?i)\b(?:slides|talk|seminar|joint work with|presented (?:by|at)|presentation|colloquium|tutorial)\b`)
	sentence     = regexp.MustCompile(`[a-z]{2,}[.!?]\s+[A-Z]`)

	nameCourse = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:homeworks?|hw[0-9]*|assignments?|assign[0-9]*|syllabus|weeks?[0-9]*|lect?(?:ures?)?[0-9-]*|exercises?|ex[0-9]+|quiz[0-9]*|midterms?|finals?|exams?|pset[0-9]*|courses?|teaching|worksheets?|solutions?|sol)(?:[^a-z]|$)`)
	nameCV     = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:cv|resume|vita|vitae|curriculum|bio)(?:[^a-z]|$)`)
	nameTalk   = regexp.MustCompile(`(?i)(?:slides?|talks?|pres|presentations?)(?:[^a-z]|$)`)
	nameThesis = regexp.MustCompile(`(?i)(?:thesis|dissertation|phd)`)
	namePoster = regexp.MustCompile(`(?i)poster`)
)

// heading matches a line that is a section heading of the given words, with or
// without a number, and nothing else.
func heading(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?im)^\W{0,3}(?:(?:[0-9]{1,2}(?:\.[0-9])?|[ivx]{1,4}|[a-d])[.):]?\s{1,4})?(?:` + words + `)\s*[.:]?\s*$`)
}

// at is where a pattern first stands, as a share of the text: 0 at the start,
// 1 at the end, and 1 too where it stands nowhere.
func at(s string, loc []int) float64 {
	if loc == nil || len(s) == 0 {
		return 1
	}
	return float64(loc[0]) / float64(len(s))
}

func first(s string, patterns ...*regexp.Regexp) []int {
	var best []int
	for _, p := range patterns {
		if loc := p.FindStringIndex(s); loc != nil && (best == nil || loc[0] < best[0]) {
			best = loc
		}
	}
	return best
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// perThousand is how often a pattern stands in a thousand words, dampened.
func perThousand(s string, p *regexp.Regexp, words int) float64 {
	n := len(p.FindAllStringIndex(s, 2000))
	return math.Log1p(1000 * float64(n) / float64(max(words, 100)))
}

// Compute returns the features of a text.
func Compute(t *Text, h Hints) Features {
	c := counted(t)
	f := make(Features, 0, len(featureNames))
	f = append(f, c.shared(t)...)
	f = append(f, c.layout(t)...)
	f = append(f, c.wording()...)
	return append(f, named(t, h)...)
}

// counts are what several features need.
type counts struct {
	all, front        string // all text; the first page, at most 4,000 bytes
	words, lines      int
	pages             int // read
	titled, capital   int
	symbols, long     int
	firstWords, chars int
}

func counted(t *Text) counts {
	c := counts{all: strings.Join(t.Pages, "\n"), pages: max(1, len(t.Pages))}
	if len(t.Pages) > 0 {
		c.front = strings.ToValidUTF8(string(head([]byte(t.Pages[0]), 4000)), "")
		c.firstWords = len(strings.Fields(t.Pages[0]))
	}
	for line := range strings.Lines(c.all) {
		c.line(strings.TrimSpace(line))
	}
	return c
}

func (c *counts) line(s string) {
	if s == "" {
		return
	}
	c.lines++
	for i, r := range s {
		if i == 0 && unicode.IsUpper(r) {
			c.capital++
		}
		c.chars++
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSpace(r) {
			c.symbols++
		}
	}
	fields := strings.Fields(s)
	c.words += len(fields)
	if len(fields) >= 7 {
		c.long += len(fields)
	}
	for _, w := range fields {
		if r := []rune(w)[0]; unicode.IsUpper(r) {
			c.titled++
		}
	}
}

// shared computes the features that the published training set knows too.
func (c *counts) shared(t *Text) []float64 {
	paper := thisPaper.FindStringIndex(c.all)
	abstract := first(c.all, headingAbstract, abstractInline, abstractSpaced)
	intro := first(c.all, headingIntro, introSpaced)
	refs, listed := CountReferences(t), first(c.all, headingRefs, refsSpaced) != nil
	values := []float64{
		math.Log1p(float64(t.PageCount)), math.Log1p(float64(c.words) / float64(c.pages)),
		float64(c.titled) / float64(max(1, c.words)), float64(c.symbols) / float64(max(1, c.chars)), float64(c.capital) / float64(max(1, c.lines)),
		yes(paper != nil), at(c.all, paper), yes(thisBook.MatchString(c.all)), yes(thisThesis.MatchString(c.all)),
		yes(thisDocument.MatchString(c.all)), yes(thisChapter.MatchString(c.all)), yes(thisSection.MatchString(c.all)),
		yes(listed || refs >= 5), yes(abstract != nil), at(c.all, abstract), yes(headingAck.MatchString(c.all)),
		yes(intro != nil), at(c.all, intro), yes(headingConcl.MatchString(c.all)),
		math.Log1p(float64(refs)),
		yes(interests.MatchString(c.all)), yes(education.MatchString(c.all)), yes(publications.MatchString(c.all)),
	}
	return append(values, structure(values)...)
}

// Places of features that others are made of.
const (
	atPages, atThisPaper, atReferences, atAbstract   = 0, 5, 12, 13
	atAcknowledgements, atIntroduction, atConclusion = 15, 16, 18
)

// structure adds up the signs of a paper's structure, and applies the rule of
// thumb "(references and (abstract or introduction)) or 'this paper', at most
// 60 pages". A line cannot see such a combination in its parts.
func structure(v []float64) []float64 {
	sum := 0.0
	for _, i := range []int{atThisPaper, atReferences, atAbstract, atAcknowledgements, atIntroduction, atConclusion} {
		sum += v[i]
	}
	return []float64{sum, yes(ruleOfThumb(v))}
}

func ruleOfThumb(v []float64) bool {
	return (v[atReferences] > 0 && (v[atAbstract] > 0 || v[atIntroduction] > 0) || v[atThisPaper] > 0) && v[atPages] <= math.Log1p(60)
}

// layout computes what the pages look like. Sizes are relative to a page of
// 792 points, since slides are drawn on small pages.
func (c *counts) layout(t *Text) []float64 {
	landscape, area, size, title := math.NaN(), math.NaN(), math.NaN(), math.NaN()
	if t.Width > 0 && t.Height > 0 {
		landscape, area = yes(t.Landscape()), math.Log(t.Width*t.Height/(612*792))
		if body, top := letterSizes(t.First); body > 0 {
			size, title = math.Log(body/t.Height*792), math.Log(max(1, top/body))
		}
	}
	return []float64{landscape, area, size, title, math.Log1p(float64(c.firstWords))}
}

// letterSizes returns the size in which most letters of a page are set, and the
// largest size of a line with some letters.
func letterSizes(l Layout) (body, top float64) {
	weight := map[int]int{}
	for _, line := range l.Lines {
		n := letters(line.Text)
		if line.Size <= 0 || n < 3 {
			continue
		}
		weight[int(line.Size*2+0.5)] += n
		top = max(top, line.Size)
	}
	best := -1
	for size, n := range weight {
		if best < 0 || n > weight[best] || n == weight[best] && size < best {
			best = size
		}
	}
	return float64(max(best, 0)) / 2, top
}

func (c *counts) wording() []float64 {
	rate := func(p *regexp.Regexp) float64 { return perThousand(c.all, p, c.words) }
	front := func(p *regexp.Regexp) float64 { return yes(p.MatchString(c.front)) }
	perPage := func(p *regexp.Regexp) float64 {
		return math.Log1p(float64(len(p.FindAllStringIndex(c.all, 2000))) / float64(c.pages))
	}
	return []float64{
		rate(citation), front(affiliation), front(emailMark), rate(figureMark), rate(theoremMark), rate(etAl), rate(weMark), rate(firstPerson),
		perPage(numberedHead), perPage(bullet), float64(c.long) / float64(max(1, c.words)),
		rate(courseWords), front(courseFront), rate(questions), rate(cvWords), front(cvFront),
		rate(yearMark), front(thesisFront), yes(headingContents.MatchString(c.all)), front(supplFront), front(procFront), front(keywordFront), front(talkFront),
		yes(c.words < 350), rate(sentence),
	}
}

// tinyFile is CINDI's bound under which a PDF was not kept (Chen 2008, File
// Fetcher).
const tinyFile = 8 << 10

func named(t *Text, h Hints) []float64 {
	name := h.Name
	if name == "" {
		name = t.Name
	}
	both := lastSegments(name) + " " + h.Anchor
	return []float64{
		yes(nameCourse.MatchString(both)), yes(nameCV.MatchString(both)), yes(nameTalk.MatchString(both)),
		yes(nameThesis.MatchString(both)), yes(namePoster.MatchString(both)), yes(t.Bytes < tinyFile && t.Kind == PDF),
	}
}

// lastSegments is the file's name and its folder's: what stands above says more
// of the site than of the document.
func lastSegments(name string) string {
	_, after, isURL := strings.Cut(name, "://")
	if isURL {
		_, name, _ = strings.Cut(after, "/")
	}
	parts := strings.Split(name, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// UnwelcomeName reports whether name or size alone speak against a document
// (Chen 2008, CINDI's File Fetcher: homework, hw, assignment, syllabus, cv,
// resume, week, lecture, exercise; less than 8 KB). As a pre-filter it saves
// the reading, at the price of a few papers; the filter uses the same hints as
// features.
func UnwelcomeName(name string, size int) (reason string, unwelcome bool) {
	name = lastSegments(name)
	switch {
	case nameCourse.MatchString(name):
		return "its name is one of course material", true
	case nameCV.MatchString(name):
		return "its name is one of a CV", true
	case size > 0 && size < tinyFile:
		return "it is smaller than 8 KB", true
	}
	return "", false
}
