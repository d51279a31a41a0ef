package match

import (
	"bytes"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// formOf returns the form of a document by its first pages, and the reason. It searches for
// skeletons (see stream).
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
	case d.calledSo() != "":
		return d.calledSo(), "its file name or link says so"
	case d.ev.ArXiv != "" || arxivStamp(d.text) != "":
		return FormPreprint, "bears an arXiv id"
	case has(head, "fullversion", "extendedversion", "longversion") != "":
		return FormExtended, "says that it is a full or extended version"
	case has(head, "preprintsubmitted", "preprint", "tobepublishedin", "undersubmission") != "":
		return FormPreprint, "says that it is a preprint"
	}
	return FormPaper, ""
}

// slides reports whether the pages have few words and no abstract. "Introduction" is no evidence,
// since it is a heading of talks too.
func (d *document) slides() bool {
	if d.second < 0 || d.abstract() {
		return false
	}
	next := len(d.letters) - d.second
	return d.second < 500 && next < 900 && next > 0
}

func (d *document) abstract() bool {
	return bytes.Contains(d.letters, []byte("abstract"))
}

// calledSo returns the form named by the file name or by a short anchor: "talk-slides.pdf",
// "[poster]". It ignores them for a document with an abstract.
func (d *document) calledSo() string {
	if d.abstract() {
		return ""
	}
	names := text.TitleWords(strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(d.ev.FileName))
	if anchor := text.TitleWords(d.ev.Anchor); len(anchor) <= 3 {
		names = append(names, anchor...)
	}
	for _, w := range names {
		switch w {
		case "slides", "slide", "talk", "presentation", "ppt", "pptx":
			return FormSlides
		case "poster":
			return FormPoster
		case "thesis", "dissertation":
			return FormThesis
		case "supplement", "supplementary", "supplemental", "supp", "appendix", "erratum", "errata":
			return FormSupplement
		}
	}
	return ""
}

// maxArXiv is the greatest length in bytes of an arXiv id.
const maxArXiv = 40

// arxivStamp returns the bare id of the stamp "arXiv:1609.01872v2 [cs.LG] 6 Sep 2016".
func arxivStamp(text string) string {
	for {
		i := strings.Index(text, "arXiv:")
		if i < 0 {
			return ""
		}
		text = text[i+len("arXiv:"):]
		id, rest := text, ""
		if end := strings.IndexAny(text[:min(len(text), maxArXiv+1)], " ["); end >= 0 {
			id, rest = text[:end], text[end:]
		}
		if id = gleaner.ParseArXiv(id); id != "" && strings.HasPrefix(strings.TrimLeft(rest, " "), "[") {
			return id
		}
	}
}
