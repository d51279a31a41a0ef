package filter

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"gleaner/internal/document"
	"gleaner/internal/learn"
)

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
		if _, known := document.ClassOf(label); !ok || !known {
			return nil, fmt.Errorf("labels, line %d: want a URL, a tab and a known label, have %q", n, sc.Text())
		}
		out = append(out, Labelled{URL: url, Label: label})
	}
	return out, sc.Err()
}

// published names, for each shared feature, the attribute of the published
// training set (SeerLabs/pdfmef, train_str_f43_paper.arff, 1-based) and how its
// value is turned into ours.
var published = [document.SharedFeatures - 2]struct {
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
func flag(_ map[int]float64, v float64) float64 {
	if v > 0 {
		return 1
	}
	return 0
}

// whereIf is a position that counts only where the word stands at all.
func whereIf(attribute int) func(map[int]float64, float64) float64 {
	return func(row map[int]float64, v float64) float64 {
		if row[attribute] == 0 {
			return 1
		}
		return v
	}
}

// readPublished reads the published training set (sparse ARFF). document.Features of
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
	e := learn.Example{Label: document.LabelAcademic}
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
		e.Label = document.LabelOther
	}
	for _, p := range published {
		e.X = append(e.X, p.turn(row, row[p.attribute]))
	}
	e.X = append(e.X, document.Structure(e.X)...)
	for len(e.X) < len(document.FeatureNames()) {
		e.X = append(e.X, math.NaN())
	}
	return e
}
