package document

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark is a thing counted by single words or by pairs of them.
type mark byte

const (
	markNone mark = iota
	markThisPaper
	markThisBook
	markThisThesis
	markThisDocument
	markThisChapter
	markThisSection
	markInterests
	markCitation
	markFigure
	markTheorem
	markEtAl
	markWe
	markFirstPerson
	markCourse
	markQuestion
	markCV
	markYear
	markSentence
	marks
)

// pairMark looks at two words that stand together, in lower case.
func pairMark(before, word string) mark {
	switch before {
	case "this", "present", "our":
		switch word {
		case "paper", "article", "work":
			return markThisPaper
		}
		if before == "this" {
			return thisMark(word)
		}
	case "данной", "настоящей", "этой", "данная", "настоящая":
		switch word {
		case "работе", "статье", "работа", "статья":
			return markThisPaper
		}
	case "este", "neste", "dieser", "diesem", "diese", "cet":
		switch word {
		case "artigo", "artículo", "trabalho", "trabajo", "arbeit", "beitrag", "artikel", "article":
			return markThisPaper
		}
	case "research":
		if word == "interests" || word == "interest" || word == "experience" {
			return markInterests
		}
	case "chapter":
		if word == "1" {
			return markThisChapter
		}
	case "et":
		if word == "al" {
			return markEtAl
		}
	case "problem", "office", "due", "solutions":
		if word == "set" || word == "sets" || word == "hours" || word == "date" || word == "to" {
			return markCourse
		}
	case "curriculum", "invited", "program", "teaching":
		if word == "vitae" || word == "talks" || word == "committee" || word == "assistant" || word == "experience" {
			return markCV
		}
	}
	return markNone
}

func thisMark(word string) mark {
	switch word {
	case "letter", "note", "study", "manuscript":
		return markThisPaper
	case "book":
		return markThisBook
	case "thesis", "dissertation":
		return markThisThesis
	case "document":
		return markThisDocument
	case "chapter":
		return markThisChapter
	case "section":
		return markThisSection
	}
	return markNone
}

// wordMark looks at one word: as written, and in lower case.
func wordMark(word, lower string) mark {
	switch lower {
	case "we", "our":
		return markWe
	case "my", "me", "you", "your":
		return markFirstPerson
	case "homework", "assignment", "assignments", "syllabus", "midterm", "exam", "exams", "quiz", "quizzes", "grade", "grading", "points",
		"lecture", "lectures", "exercise", "exercises", "student", "students", "course", "instructor", "worksheet", "tutorial":
		return markCourse
	case "employment", "appointment", "appointments", "award", "awards", "honor", "honors", "fellowship", "fellowships", "advisor",
		"service", "reviewer", "ph.d", "phd", "b.sc", "bsc", "m.sc", "msc", "b.s", "m.s", "gpa", "grant", "grants", "resume", "résumé":
		return markCV
	}
	switch word {
	case "I":
		return markFirstPerson
	case "Theorem", "Lemma", "Definition", "Proposition", "Corollary", "Proof", "Algorithm", "Equation", "Eq":
		return markTheorem
	}
	if isYear(word) {
		return markYear
	}
	return markNone
}

// isYear accepts 1960 to 2049, with the letter that tells works of a year apart.
func isYear(w string) bool {
	if len(w) == 5 && w[4] >= 'a' && w[4] <= 'f' {
		w = w[:4]
	}
	if len(w) != 4 || w[3] < '0' || w[3] > '9' || w[2] < '0' || w[2] > '9' {
		return false
	}
	return w[0] == '1' && w[1] == '9' && w[2] >= '6' || w[0] == '2' && w[1] == '0' && w[2] <= '4'
}

var (
	citeNumber = regexp.MustCompile(`^\[(?:[0-9]{1,3}(?:\s*[,–-]\s*[0-9]{1,3})*|[A-Z][A-Za-z+]{1,6}[0-9]{2}[a-z]?)\]`)
	citeYear   = regexp.MustCompile(`^\([A-Z][^()\n]{1,60},? (?:19|20)[0-9]{2}[a-z]?\)`)
)

// citations counts references in the text: [12], [1, 4–7], [Kle99], (Kleinberg,
// 1999).
func citations(line string) int {
	n := 0
	for i := range len(line) {
		switch line[i] {
		case '[':
			n += boolInt(citeNumber.MatchString(line[i:min(len(line), i+60)]))
		case '(':
			n += boolInt(citeYear.MatchString(line[i:min(len(line), i+80)]))
		}
	}
	return n
}

var (
	numberedHead = regexp.MustCompile(`^(?:[1-9](?:\.[1-9][0-9]?){0,2}|[IVX]{1,4})\.?\s{1,4}[A-Z][A-Za-z]{2,}[A-Za-z ,:-]{0,60}$`)
	question     = regexp.MustCompile(`^(?i:problem|question|exercise|task|part)\s+[0-9a-h]+\b|^\(?[a-h1-9]\)\s`)
)

func bulleted(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	return strings.ContainsRune("•●◦▪▶►■□–➢❖✓∗-", r) && len(line) > utf8.RuneLen(r)
}

// counts is what one pass over a text finds. One pass, because dozens of
// patterns searched for one by one cost more than reading the PDF.
type counts struct {
	front               string // the start of the first page
	words, lines, pages int
	titled, capital     int // words and lines that begin with a capital
	symbols, chars      int
	long                int           // words in lines of seven and more
	firstWords          int           // words of the first page
	bytes               int           // of all pages, a line end after each
	at                  [sections]int // where a section's heading first stands, in bytes; -1
	refsEnd             int           // end of the last heading of a reference list, -1
	tally               [marks]int
	thisPaperAt         int
	heads, bullets      int
	list                string  // of the references
	marks               [][]int // where its entries begin
	entries             int
	lastWord            string
	first               *counts // of the first pages, where there are more
}

func counted(t *Text) *counts {
	c := &counts{pages: max(1, len(t.Pages)), refsEnd: -1, thisPaperAt: -1}
	for i := range c.at {
		c.at[i] = -1
	}
	for i, p := range t.Pages {
		if i == VerdictPages {
			first := *c
			c.first, first.pages = &first, i
			first.list, first.marks, first.entries = first.references(&Text{Pages: t.Pages[:i]})
		}
		for line := range strings.Lines(p) {
			c.line(strings.TrimSpace(line))
			c.bytes += len(line)
		}
		c.bytes++
		if i == 0 {
			c.front, c.firstWords = strings.ToValidUTF8(p[:min(len(p), 4000)], ""), c.words
		}
	}
	c.list, c.marks, c.entries = c.references(t)
	return c
}

func (c *counts) line(s string) {
	if s == "" {
		return
	}
	c.lines++
	r, _ := utf8.DecodeRuneInString(s)
	c.capital += boolInt(unicode.IsUpper(r))
	if len(s) <= headingLine+10 {
		c.short(s)
	}
	if c.at[secAbstract] < 0 && abstractInline(s) {
		c.at[secAbstract] = c.bytes
	}
	c.bullets += boolInt(bulleted(s))
	c.tally[markCitation] += citations(s)
	c.unspaced(s)
	before := c.words
	for w := range strings.FieldsSeq(s) {
		c.word(w)
	}
	if n := c.words - before; n >= 7 {
		c.long += n
	}
}

// unspaced counts what is written without blanks between words, Chinese and
// Japanese: two characters make a word there, on the average.
func (c *counts) unspaced(line string) {
	n := 0
	for _, r := range line {
		n += boolInt(r >= 0x3040 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana))
	}
	if n == 0 {
		return
	}
	c.words += n / 2
	for _, w := range []string{"本文", "本論文", "本论文", "本稿"} {
		if strings.Contains(line, w) {
			c.tally[markThisPaper]++
			if c.thisPaperAt < 0 {
				c.thisPaperAt = c.bytes
			}
		}
	}
}

// short looks at a line that may be a heading.
func (c *counts) short(s string) {
	if sec := headingOf(s); sec != secNone {
		if c.at[sec] < 0 {
			c.at[sec] = c.bytes
		}
		if sec == secReferences {
			c.refsEnd = c.bytes + len(s)
		}
	}
	c.heads += boolInt(strings.IndexByte("123456789IVX", s[0]) >= 0 && numberedHead.MatchString(s))
	c.tally[markQuestion] += boolInt(strings.IndexByte("(abcdefgh123456789pqetPQET", s[0]) >= 0 && question.MatchString(s))
}

func (c *counts) word(w string) {
	c.words++
	letterEnd := false // two small letters and a full stop end a sentence where a capital follows
	first, _ := utf8.DecodeRuneInString(w)
	for _, r := range w {
		c.chars++
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			c.symbols++
		}
	}
	if unicode.IsUpper(first) {
		c.titled++
		if n := len(c.lastWord); n > 3 && strings.IndexByte(".!?", c.lastWord[n-1]) >= 0 && isSmall(c.lastWord[n-2]) && isSmall(c.lastWord[n-3]) {
			letterEnd = true
		}
	}
	c.tally[markSentence] += boolInt(letterEnd)
	core := strings.TrimFunc(w, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) })
	lower := strings.ToLower(core)
	c.pair(c.lastWord, core, lower)
	c.tally[wordMark(core, lower)]++
	c.lastWord = w
}

func isSmall(b byte) bool { return b >= 'a' && b <= 'z' }

func (c *counts) pair(before, core, lower string) {
	b := strings.ToLower(before)
	m := pairMark(b, lower)
	if m == markThisPaper && c.thisPaperAt < 0 {
		c.thisPaperAt = c.bytes
	}
	c.tally[m]++
	switch {
	case core == "" || before == "":
	case core[0] >= '0' && core[0] <= '9' || strings.Trim(core, "IVX") == "":
		switch before {
		case "Figure", "Fig.", "Table", "FIGURE", "TABLE":
			c.tally[markFigure]++
		}
	case (lower == "points" || lower == "pts" || lower == "marks") && before[0] >= '0' && before[0] <= '9':
		c.tally[markQuestion]++
	}
}
