package document

// Class is what a document is.
type Class string

// The classes. Labels of finer training sets fold into them: supplements,
// posters, prose, manuals, forms, certificates and the front matter of
// proceedings are Other.
const (
	Paper  Class = "paper"
	Thesis Class = "thesis"
	Slides Class = "slides"
	Course Class = "course" // exercises, lecture notes, exams
	CV     Class = "cv"     // and statements of research or teaching
	Other  Class = "other"
)

// ClassOf maps the labels of training sets to classes. Academic are papers and
// theses: what a collection of publications wants. Whoever reads what other
// labels stand on finds prefaces ("proceedings"), software manuals ("book") and
// additional material without the paper ("supplement"): they are Other, and so
// are the slides and posters of a paper, which are linked to it elsewhere.
func ClassOf(label string) (c Class, known bool) {
	switch label {
	case "paper", "thesis", "slides", "course", "cv":
		return Class(label), true
	case "supplement", "book", "proceedings", "poster", "prose", "admin", "notext", "other":
		return Other, true
	}
	return "", false
}

// Academic reports whether documents of this class belong into a collection of
// publications.
func (c Class) Academic() bool { return c == Paper || c == Thesis }

// The two labels of the academic-or-not model.
const (
	LabelAcademic = "academic"
	LabelOther    = "not"
)
