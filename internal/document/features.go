package document

import (
	"cmp"
	"math"
	"regexp"
	"strings"
)

// Features are the structural features of a text, in the line of the 45 of
// CiteSeerX's document content filter (Wu et al., WIDM 2012), computed from
// text and layout. NaN marks what could not be known.
type Features []float64

// featureNames names them in order. The first SharedFeatures are also in the
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

// FeatureNames are the names of the features, in order.
func FeatureNames() []string { return featureNames }

// SharedFeatures is how many of featureNames the published set knows.
const SharedFeatures = 25

// Hints are what is known of a document besides its text.
type Hints struct {
	Name   string // file name or URL
	Anchor string // text of the link that led there
}

var (
	affiliation  = newCue(`(?i)\b(?:universit|institut|department|laborator|college|school of|research center|faculty of|inc\.|corporation|cnrs|inria)`, "universit", "institut", "department", "laborator", "college", "school of", "research center", "faculty of", "inc.", "corporation", "cnrs", "inria")
	emailMark    = newCue(`(?i)[a-z0-9._}-]\s?@\s?[a-z0-9.-]+\.[a-z]{2,}|\be-?mail\b`, "@", "mail")
	courseFront  = newCue(`(?i)\b(?:homework|assignment|syllabus|midterm|final exam|quiz|problem set|exercise sheet|worksheet|lecture (?:notes|[0-9]+)|office hours|instructor:|due(?::|\s+(?:by|on|at|in class|date|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|[0-9])[a-z]*)|course (?:notes|number|description)|practice problems|project description|semester|spring|fall 20)\b`, "homework", "assignment", "syllabus", "midterm", "final exam", "quiz", "problem set", "exercise sheet", "worksheet", "lecture", "office hours", "instructor:", "due", "course", "practice problems", "project description", "semester", "spring", "fall 20")
	cvFront      = newCue(`(?i)curriculum vitae|(?:^|\n)\s*(?:c\.?v\.?|r[eé]sum[eé]|education|employment|academic (?:positions|appointments)|research interests?|biographical sketch|professional preparation|teaching statement|research statement|experience)\s*:?\s*(?:\n|$)`, "curriculum vitae", "cv", "c.v", "v.", "sum", "education", "employment", "academic", "research", "biographical", "professional", "teaching", "experience")
	thesisFront  = newCue(`(?i)\b(?:thesis|dissertation)\b|partial ful?fill?ment|\bdegree of\b|\bsubmitted (?:to|in|for)\b.{0,80}\b(?:degree|university)|\bsupervis(?:or|ed)\b`, "thesis", "dissertation", "partial ful", "degree of", "submitted", "supervis")
	supplFront   = newCue(`(?i)\b(?:supplement(?:ary|al)?(?: material)?|errat(?:a|um)|corrigendum|online appendix|web appendix)\b`, "supplement", "errat", "corrigendum", "appendix")
	procFront    = newCue(`(?i)\b(?:proceedings|journal of|transactions on|conference on|workshop on|vol(?:ume|\.)?\s*[0-9]+|arxiv:|doi[:.]|issn|isbn|permission to make|copyright|preprint|technical report|to appear|published in|lecture notes in)\b`, "proceedings", "journal of", "transactions on", "conference on", "workshop on", "vol", "arxiv:", "doi", "issn", "isbn", "permission", "copyright", "preprint", "technical report", "to appear", "published in", "lecture notes")
	keywordFront = newCue(`(?i)(?:^|\n)\W{0,3}(?:key ?words|index terms|general terms|categories and subject|ccs concepts|acm reference format)`, "key", "terms", "categories", "ccs", "acm")
	talkFront    = newCue(`(?i)\b(?:slides|talk|seminar|joint work with|presented (?:by|at)|presentation|colloquium|tutorial)\b`, "slides", "talk", "seminar", "joint work", "presented", "presentation", "colloquium", "tutorial")

	nameCourse = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:homeworks?|hw[0-9]*|assignments?|assign[0-9]*|syllabus|weeks?[0-9]*|lect?(?:ures?)?[0-9-]*|exercises?|ex[0-9]+|quiz[0-9]*|midterms?|finals?|exams?|pset[0-9]*|courses?|teaching|worksheets?|solutions?|sol)(?:[^a-z]|$)`)
	nameCV     = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:cv|resume|vita|vitae|curriculum|bio)(?:[^a-z]|$)`)
	nameTalk   = regexp.MustCompile(`(?i)(?:slides?|talks?|pres|presentations?)(?:[^a-z]|$)`)
	nameThesis = regexp.MustCompile(`(?i)(?:thesis|dissertation|phd)`)
	namePoster = regexp.MustCompile(`(?i)poster`)
)

// cue is a pattern that is looked for only around its words: alone it takes a
// hundred times as long to say no. No match is longer than three lines.
type cue struct {
	pattern *regexp.Regexp
	words   []string // in lower case; every match has one of them
}

func newCue(pattern string, words ...string) cue { return cue{regexp.MustCompile(pattern), words} }

// in reports whether a text in lower case has the cue.
func (q cue) in(lower string) bool {
	for _, w := range q.words {
		for from := 0; ; {
			at := strings.Index(lower[from:], w)
			if at < 0 {
				break
			}
			start, end := around(lower, from+at, from+at+len(w))
			if q.pattern.MatchString(lower[start:end]) {
				return true
			}
			from += at + len(w)
			eol := strings.IndexByte(lower[from:], '\n')
			if eol < 0 { // the rest of the line was looked at, and it is the last
				break
			}
			from += eol
		}
	}
	return false
}

// around is the part of a text that reaches from the line before a place to the
// line after it; blank lines do not count.
func around(text string, start, end int) (from, to int) {
	for range 2 {
		for start > 0 && text[start-1] == '\n' {
			start--
		}
		start = strings.LastIndexByte(text[:start], '\n') + 1
	}
	for range 2 {
		for end < len(text) && text[end] == '\n' {
			end++
		}
		if n := strings.IndexByte(text[end:], '\n'); n >= 0 {
			end += n
		} else {
			end = len(text)
		}
	}
	return start, end
}

// find is the first match in a text, or "".
func (q cue) find(text string) string {
	if !q.in(strings.ToLower(text)) {
		return ""
	}
	return q.pattern.FindString(text)
}

// place is where something first stands, as a share of the text: 0 at the
// start, 1 at the end, and 1 too where it stands nowhere.
func (c *counts) place(at int) float64 {
	if at < 0 || c.bytes == 0 {
		return 1
	}
	return float64(at) / float64(c.bytes)
}

func yes(b bool) float64 { return float64(boolInt(b)) }

// perThousand is how often a thing stands in a thousand words, dampened.
func (c *counts) perThousand(m mark) float64 {
	return math.Log1p(1000 * float64(min(c.tally[m], 2000)) / float64(max(c.words, 100)))
}

func (c *counts) features(t *Text, h Hints) Features {
	f := make(Features, 0, len(featureNames))
	f = append(f, c.shared(t)...)
	f = append(f, c.layout(t)...)
	f = append(f, c.wording()...)
	return append(f, named(t, h)...)
}

// shared computes the features that the published training set knows too.
func (c *counts) shared(t *Text) []float64 {
	has := func(s section) float64 { return yes(c.at[s] >= 0) }
	said := func(m mark) float64 { return yes(c.tally[m] > 0) }
	values := []float64{
		math.Log1p(float64(t.PageCount)), math.Log1p(float64(c.words) / float64(c.pages)),
		float64(c.titled) / float64(max(1, c.words)), float64(c.symbols) / float64(max(1, c.chars)), float64(c.capital) / float64(max(1, c.lines)),
		said(markThisPaper), c.place(c.thisPaperAt), said(markThisBook), said(markThisThesis),
		said(markThisDocument), said(markThisChapter), said(markThisSection),
		yes(c.at[secReferences] >= 0 || c.entries >= 5), has(secAbstract), c.place(c.at[secAbstract]), has(secAcknowledgements),
		has(secIntroduction), c.place(c.at[secIntroduction]), has(secConclusion),
		math.Log1p(float64(c.entries)),
		said(markInterests), has(secEducation), has(secPublications),
	}
	return append(values, Structure(values)...)
}

// Places of features that others are made of.
const (
	atPages, atThisPaper, atReferences, atAbstract   = 0, 5, 12, 13
	atAcknowledgements, atIntroduction, atConclusion = 15, 16, 18
)

// Structure adds up the signs of a paper's structure, and applies the rule of
// thumb "(references and (abstract or introduction)) or 'this paper', at most
// 60 pages". A line cannot see such a combination in its parts.
func Structure(v []float64) []float64 {
	sum := 0.0
	for _, i := range []int{atThisPaper, atReferences, atAbstract, atAcknowledgements, atIntroduction, atConclusion} {
		sum += v[i]
	}
	return []float64{sum, yes(RuleOfThumb(v))}
}

// RuleOfThumb is that rule, of features.
func RuleOfThumb(v []float64) bool {
	return (v[atReferences] > 0 && (v[atAbstract] > 0 || v[atIntroduction] > 0) || v[atThisPaper] > 0) && v[atPages] <= math.Log1p(60)
}

// layout computes what the pages look like. Sizes are relative to a page of
// 792 points, since slides are drawn on small pages.
func (c *counts) layout(t *Text) []float64 {
	landscape, area, size, title := math.NaN(), math.NaN(), math.NaN(), math.NaN()
	if t.Width > 0 && t.Height > 0 {
		landscape, area = yes(t.landscape()), math.Log(t.Width*t.Height/(612*792))
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
	lower := strings.ToLower(c.front)
	front := func(q cue) float64 { return yes(q.in(lower)) }
	perPage := func(n int) float64 { return math.Log1p(float64(min(n, 2000)) / float64(c.pages)) }
	return []float64{
		c.perThousand(markCitation), front(affiliation), front(emailMark), c.perThousand(markFigure), c.perThousand(markTheorem),
		c.perThousand(markEtAl), c.perThousand(markWe), c.perThousand(markFirstPerson),
		perPage(c.heads), perPage(c.bullets), float64(c.long) / float64(max(1, c.words)),
		c.perThousand(markCourse), front(courseFront), c.perThousand(markQuestion), c.perThousand(markCV), front(cvFront),
		c.perThousand(markYear), front(thesisFront), yes(c.at[secContents] >= 0), front(supplFront), front(procFront), front(keywordFront), front(talkFront),
		yes(c.words < 350), c.perThousand(markSentence),
	}
}

// tinyFile is CINDI's bound under which a PDF was not kept (Chen 2008, File
// Fetcher).
const tinyFile = 8 << 10

func named(t *Text, h Hints) []float64 {
	name := cmp.Or(h.Name, t.Name)
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
