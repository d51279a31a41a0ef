package match

import (
	"bytes"
	"strings"
)

// formOf tells what kind of thing the document is, as far as its first pages
// say. The words looked for are skeletons (see stream).
func formOf(d *document) (form, why string) {
	first := d.letters
	if d.second >= 0 {
		first = first[:d.second]
	}
	head := first[:min(len(first), 900)]
	has := func(b []byte, ws ...string) string {
		for _, w := range ws {
			if bytes.Contains(b, []byte(w)) {
				return w
			}
		}
		return ""
	}
	switch {
	case has(head, "supplementarymaterial", "supplementalmaterial", "onlineappendix") != "" && d.body == len(d.letters):
		return FormSupplement, "says that it is supplementary"
	case has(first, "dissertation", "thesissubmitted", "degreeofdoctor", "doctoraatdegree", "inpartialfulllmentoftherequirements", "submittedforthedegreeof", "masterthesis", "mastersthesis", "phdthesis", "bachelorthesis") != "" && len(first) < 1500:
		return FormThesis, "says that it is a thesis"
	case d.slides():
		return FormSlides, "few words a page, no abstract"
	case d.ev.ArXiv != "" || arxivStamp(d.text) != "":
		return FormPreprint, "bears an arXiv id"
	case has(head, "fullversion", "extendedversion", "longversion") != "":
		return FormExtended, "says that it is a full or extended version"
	case has(head, "preprintsubmitted", "preprint", "tobepublishedin", "undersubmission") != "":
		return FormPreprint, "says that it is a preprint"
	}
	return FormPaper, ""
}

// slides: the pages of a talk hold few words. Two pages with fewer letters
// than half a page of prose, and no abstract.
func (d *document) slides() bool {
	if d.second < 0 || d.body < len(d.letters) {
		return false
	}
	next := d.letters[d.second:]
	return d.second < 500 && len(next) < 900 && len(next) > 0
}

// arxivStamp finds the stamp "arXiv:1609.01872v2 [cs.LG] 6 Sep 2016" and returns
// the bare id.
func arxivStamp(text string) string {
	for {
		i := strings.Index(text, "arXiv:")
		if i < 0 {
			return ""
		}
		text = text[i+len("arXiv:"):]
		id := text[:idLength(text)]
		rest := strings.TrimLeft(text[len(id):], " ")
		if len(id) >= 9 && strings.HasPrefix(rest, "[") {
			return bareArXiv(id)
		}
	}
}

func idLength(s string) int {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c == '.', c == 'v', c == '/', c == '-', c >= 'a' && c <= 'z':
		default:
			return i
		}
	}
	return len(s)
}
