package filter

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"gleaner/internal/document"
	"gleaner/internal/each"
	"gleaner/internal/lab/measure"
)

// Report is what cross-validation by site showed.
type Report struct {
	Sites          int
	Published      int      // rows of the published set that taught along
	Missing        []string // labelled documents that were not in the mirror
	PublishedAlone *measure.Confusion

	samples []sample
	scores  []float64
	whole   []float64 // by all pages
	fronts  []float64 // by the first pages; NaN where they may not settle it
	said    []document.Class
}

// decided counts decisions of a rule against the labels.
func (r *Report) decided(rule func(i int) bool, keep func(sample) bool) *measure.Confusion {
	c := measure.NewConfusion([]string{document.LabelAcademic, document.LabelOther})
	for i, s := range r.samples {
		if keep == nil || keep(s) {
			c.Add(labelOf(s.class.Academic()), labelOf(rule(i)))
		}
	}
	return c
}

func (r *Report) at(threshold float64) func(int) bool {
	return func(i int) bool { return r.samples[i].HasText && r.scores[i] >= threshold }
}

// academicConfusion is academic or not at a threshold on the score.
func (r *Report) academicConfusion(threshold float64) *measure.Confusion {
	return r.decided(r.at(threshold), nil)
}

// ruleConfusion is the rule of thumb "(references and (abstract or
// introduction)) or 'this paper', at most 60 pages" on the same documents.
func (r *Report) ruleConfusion() *measure.Confusion {
	return r.decided(func(i int) bool { return document.RuleOfThumb(r.samples[i].X) }, nil)
}

// classConfusion is the confusion of the six classes.
func (r *Report) classConfusion() *measure.Confusion {
	c := measure.NewConfusion([]string{string(document.Paper), string(document.Thesis), string(document.Slides), string(document.Course), string(document.CV), string(document.Other)})
	for i, s := range r.samples {
		c.Add(string(s.class), string(r.said[i]))
	}
	return c
}

// settled is the share of the documents with more pages that their first ones, or
// these and the last ones, settle.
func (r *Report) settled() float64 {
	long, stops := 0, 0
	for i, s := range r.samples {
		if s.Front != nil {
			long++
		}
		if document.Settled(r.fronts[i]) {
			stops++
		}
	}
	return float64(stops) / float64(max(1, long))
}

// wholeConfusion is academic or not where every page is read.
func (r *Report) wholeConfusion() *measure.Confusion {
	return r.decided(func(i int) bool { return r.samples[i].HasText && r.whole[i] >= 0.5 }, nil)
}

// points sets the operating points from the cross-validated scores: the lowest
// threshold with precision 0.995, one half, and the lowest with precision 0.95,
// of the documents that have text.
func (r *Report) points() map[document.Point]document.Setting {
	judged := func(s sample) bool { return s.HasText }
	setting := func(threshold float64) document.Setting {
		p, rec, _ := r.decided(r.at(threshold), judged).Scores(document.LabelAcademic)
		return document.Setting{Threshold: threshold, Precision: p, Recall: rec}
	}
	out := map[document.Point]document.Setting{document.Balanced: setting(0.5), document.Conservative: setting(0.9), document.Liberal: setting(0.49)}
	for t := 51; t <= 99; t++ {
		if s := setting(float64(t) / 100); s.Precision >= 0.995 {
			out[document.Conservative] = s
			break
		}
	}
	for t := 1; t < 50; t++ {
		if s := setting(float64(t) / 100); s.Precision >= 0.95 {
			out[document.Liberal] = s
			break
		}
	}
	return out
}

func (r *Report) figures() document.Figures {
	c := r.academicConfusion(0.5)
	p, rec, _ := c.Scores(document.LabelAcademic)
	return document.Figures{
		Documents: len(r.samples), Sites: r.Sites, Accuracy: c.Accuracy(), Precision: p, Recall: rec,
		ClassMacroF1: r.classConfusion().MacroF1(), RuleAccuracy: r.ruleConfusion().Accuracy(),
	}
}

// siteFigure is how often a filter that never saw a site is right on it.
type siteFigure struct {
	host      string
	documents int
	accuracy  float64
}

// bySite are the sites, the worst first. Those of less than ten documents are one,
// since there one document is a tenth.
func (r *Report) bySite() []siteFigure {
	const few, rest = 10, "(sites of less than ten documents)"
	size := map[string]int{}
	for _, s := range r.samples {
		size[s.host]++
	}
	right, of := map[string]int{}, map[string]int{}
	for i, s := range r.samples {
		host := s.host
		if size[host] < few {
			host = rest
		}
		of[host]++
		if r.at(0.5)(i) == s.class.Academic() {
			right[host]++
		}
	}
	var out []siteFigure
	for host, n := range of {
		out = append(out, siteFigure{host, n, float64(right[host]) / float64(n)})
	}
	slices.SortFunc(out, func(a, b siteFigure) int {
		return cmp.Or(cmp.Compare(a.accuracy, b.accuracy), cmp.Compare(a.host, b.host))
	})
	return out
}

func (r *Report) writeSites(b *strings.Builder) {
	sites := r.bySite()
	fmt.Fprintf(b, "By site left out: median %.4f, worst %.4f\n", sites[len(sites)/2].accuracy, sites[0].accuracy)
	for _, s := range sites {
		fmt.Fprintf(b, "  %.4f of %3d  %s\n", s.accuracy, s.documents, s.host)
	}
}

// Write prints the report for a person.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	judged := each.Count(r.samples, func(s sample) bool { return s.HasText })
	fmt.Fprintf(&b, "%d documents of %d sites (%d with text to judge), %d rows of the published set, %d missing.\n",
		len(r.samples), r.Sites, judged, r.Published, len(r.Missing))
	fmt.Fprintf(&b, "Each site is judged by weights that never saw it; a document without text counts as refused.\n\n")
	fmt.Fprintf(&b, "Academic or not, threshold 0.5:\n%s\n", r.academicConfusion(0.5))
	r.writeSites(&b)
	fmt.Fprintf(&b, "\nThe same, of documents with text alone:\n%s\n", r.decided(r.at(0.5), func(s sample) bool { return s.HasText }))
	fmt.Fprintf(&b, "Rule of thumb (references and (abstract or introduction), or \"this paper\"; at most 60 pages):\n%s\n", r.ruleConfusion())
	fmt.Fprintf(&b, "Classes:\n%s\n", r.classConfusion())
	points := r.points()
	for _, p := range []document.Point{document.Conservative, document.Balanced, document.Liberal} {
		s := points[p]
		fmt.Fprintf(&b, "%-12s threshold %.2f: precision %.4f, recall %.4f\n", p, s.Threshold, s.Precision, s.Recall)
	}
	fmt.Fprintf(&b, "\nThe first %d pages, or these and the last ones, settle %.1f %% of the longer documents. Reading all pages of all:\n%s\n", document.VerdictPages, 100*r.settled(), r.wholeConfusion())
	if r.PublishedAlone != nil {
		fmt.Fprintf(&b, "\nThe published set by itself, ten folds, the features shared:\n%s\n", r.PublishedAlone)
	}
	r.writeErrors(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeErrors lists the wrong decisions, since these teach more than figures.
func (r *Report) writeErrors(b *strings.Builder) {
	var lines []string
	for i, s := range r.samples {
		if said := r.at(0.5)(i); said != s.class.Academic() {
			note := ""
			if !s.HasText {
				note = " (no text)"
			}
			lines = append(lines, fmt.Sprintf("%-12s %.2f %s%s", s.label, r.scores[i], s.url, note))
		}
	}
	slices.Sort(lines)
	fmt.Fprintf(b, "\n%d wrong decisions (label, score, document):\n%s\n", len(lines), strings.Join(lines, "\n"))
}
