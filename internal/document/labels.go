package document

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"gleaner/internal/learn"
)

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

// fold maps the labels of training sets to classes. Academic are papers and
// theses: what a collection of publications wants. Whoever reads what other
// labels stand on finds prefaces ("proceedings"), software manuals ("book") and
// additional material without the paper ("supplement"): they are Other, and so
// are the slides and posters of a paper, which are linked to it elsewhere.
func fold(label string) (c Class, known bool) {
	switch label {
	case "paper":
		return Paper, true
	case "thesis":
		return Thesis, true
	case "slides":
		return Slides, true
	case "course":
		return Course, true
	case "cv":
		return CV, true
	case "supplement", "book", "proceedings", "poster", "prose", "admin", "notext", "other":
		return Other, true
	}
	return "", false
}

// Academic reports whether documents of this class belong into a collection of
// publications.
func (c Class) Academic() bool { return c == Paper || c == Thesis }

// Labelled is one document of a training set.
type Labelled struct {
	URL   string
	Label string
}

// ReadLabels reads "url<TAB>label" with a header line. Unknown labels are an
// error that names the line.
func ReadLabels(r io.Reader) ([]Labelled, error) {
	sc := bufio.NewScanner(r)
	var out []Labelled
	for n := 1; sc.Scan(); n++ {
		url, label, ok := strings.Cut(sc.Text(), "\t")
		if n == 1 && url == "url" || strings.TrimSpace(sc.Text()) == "" {
			continue
		}
		label = strings.TrimSpace(label)
		if _, known := fold(label); !ok || !known {
			return nil, fmt.Errorf("labels, line %d: want a URL, a tab and a known label, have %q", n, sc.Text())
		}
		out = append(out, Labelled{URL: url, Label: label})
	}
	return out, sc.Err()
}

// published names, for each shared feature, the attribute of the published
// training set (SeerLabs/pdfmef, train_str_f43_paper.arff, 1-based) and how its
// value is turned into ours.
var published = [sharedFeatures - 2]struct {
	attribute int
	turn      func(row map[int]float64, v float64) float64
}{
	{9, logged}, {10, logged}, {8, same}, {11, same}, {15, same},
	{17, flag}, {18, whereIf(17)}, {19, flag}, {21, flag}, {23, flag}, {25, flag}, {26, flag},
	{27, flag}, {29, flag}, {30, whereIf(29)}, {31, flag}, {35, flag}, {36, whereIf(35)},
	{37, flag}, {5, logged}, {40, flag}, {42, flag}, {43, flag},
}

func logged(_ map[int]float64, v float64) float64 { return math.Log1p(max(0, v)) }
func same(_ map[int]float64, v float64) float64   { return v }
func flag(_ map[int]float64, v float64) float64   { return yes(v > 0) }

// whereIf is a position that counts only where the word stands at all.
func whereIf(attribute int) func(map[int]float64, float64) float64 {
	return func(row map[int]float64, v float64) float64 {
		if row[attribute] == 0 {
			return 1
		}
		return v
	}
}

// readPublished reads the published training set (sparse ARFF). Features of
// ours that it does not know are NaN. Its positive class is "academic".
func readPublished(path string) ([]learn.Example, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	var out []learn.Example
	for sc.Scan() {
		line := strings.TrimSpace(sc.Text())
		if !strings.HasPrefix(line, "{") {
			continue
		}
		out = append(out, publishedRow(strings.Trim(line, "{}")))
	}
	return out, sc.Err()
}

func publishedRow(line string) learn.Example {
	row := map[int]float64{}
	e := learn.Example{Label: academicLabel}
	for field := range strings.SplitSeq(line, ", ") {
		at, value, _ := strings.Cut(strings.TrimSpace(field), " ")
		i, err := strconv.Atoi(at)
		if err != nil {
			continue
		}
		if v, err := strconv.ParseFloat(value, 64); err == nil && i > 0 {
			row[i] = v
		}
	}
	if row[44] < 0 {
		e.Label = otherLabel
	}
	for _, p := range published {
		e.X = append(e.X, p.turn(row, row[p.attribute]))
	}
	e.X = append(e.X, structure(e.X)...)
	for len(e.X) < len(featureNames) {
		e.X = append(e.X, math.NaN())
	}
	return e
}

// The two labels of the academic-or-not model.
const (
	academicLabel = "academic"
	otherLabel    = "not"
)
