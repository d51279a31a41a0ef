package document

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"gleaner/internal/guard"
	"gleaner/internal/learn"
)

// TrainOptions say what a filter is trained on.
type TrainOptions struct {
	Dir       string // mirror: DIR/<host>/<path>
	Labels    string // file of "url<TAB>label"
	Published string // the published training set (ARFF), "" for none
	Reader    *Reader
	Workers   int    // documents read at a time; 0 means 2
	Command   string // kept in the weights
}

// The settings were chosen on a plateau: cross-validated accuracy differs by
// less than half a per cent from a third to three times of each.
const (
	trainL2         = 0.2
	trainBalanced   = 0.5
	publishedWeight = 0.5
	kindsL2         = 0.03
)

// sample is one labelled document as the trainer sees it.
type sample struct {
	url, label, host string
	class            Class
	x                Features
	front            Features // by its first pages; nil where these are all
	mayStop          bool     // they may settle it
	judged           bool     // has text
	thesis           bool     // by its evidence
	paper            bool     // likewise
	opens            bool     // its first pages are evidence of a paper
}

// TrainFilter reads the labelled documents, cross-validates by site, and fits
// the weights on all of them. Documents that are not in Dir are left out and
// counted in the report. The same files, labels and readers give the same
// weights.
func TrainFilter(ctx context.Context, opt TrainOptions) (*FilterModel, *TrainReport, error) {
	f, err := os.Open(opt.Labels)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	labels, err := ReadLabels(f)
	if err != nil {
		return nil, nil, err
	}
	samples, missing, err := readSamples(ctx, opt, labels)
	if err != nil {
		return nil, nil, err
	}
	var extra []learn.Example
	if opt.Published != "" {
		if extra, err = readPublished(opt.Published); err != nil {
			return nil, nil, err
		}
	}
	return trainOn(opt, samples, extra, missing)
}

func trainOn(opt TrainOptions, samples []sample, extra []learn.Example, missing []string) (*FilterModel, *TrainReport, error) {
	t := trainer{samples: samples, extra: extra}
	m, err := t.fit(samples)
	if err != nil {
		return nil, nil, err
	}
	report := t.crossValidate()
	report.Missing = missing
	m.Points = report.points()
	m.Figures = report.figures(m.Points)
	m.Front.Settled = report.settled()
	m.Command = opt.Command
	m.Origin = fmt.Sprintf("%d labelled documents of %d sites, %d rows of the published training set", len(samples), report.Sites, len(extra))
	return m, report, nil
}

func readSamples(ctx context.Context, opt TrainOptions, labels []Labelled) ([]sample, []string, error) {
	reader := opt.Reader
	if reader == nil {
		reader = NewReader(Options{})
	}
	out := make([]*sample, len(labels))
	g, gctx := guard.WithContext(ctx)
	g.SetLimit(max(opt.Workers, 2))
	var mu sync.Mutex
	var missing []string
	for i, l := range labels {
		g.Go(func() error {
			s, err := readSample(gctx, reader, opt.Dir, l)
			if errors.Is(err, os.ErrNotExist) {
				mu.Lock()
				missing = append(missing, l.URL)
				mu.Unlock()
				return nil
			}
			out[i] = s
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	slices.Sort(missing)
	var samples []sample
	for _, s := range out {
		if s != nil {
			samples = append(samples, *s)
		}
	}
	return samples, missing, nil
}

func readSample(ctx context.Context, r *Reader, dir string, l Labelled) (*sample, error) {
	u, err := url.Parse(l.URL)
	if err != nil {
		return nil, err
	}
	mirror, err := os.OpenRoot(dir) // out of which no URL leads
	if err != nil {
		return nil, err
	}
	defer func() { _ = mirror.Close() }()
	body, err := mirror.ReadFile(filepath.Join(u.Host, filepath.FromSlash(u.Path)))
	if errors.Is(err, os.ErrNotExist) { // mirrors differ on whether names are unescaped
		body, err = mirror.ReadFile(filepath.Join(u.Host, filepath.FromSlash(u.EscapedPath())))
	}
	if err != nil {
		return nil, err
	}
	t, err := r.Read(ctx, Part{Name: l.URL, Body: body})
	if err != nil {
		return nil, err
	}
	return newSample(t, l, u.Host), nil
}

func newSample(t *Text, l Labelled, host string) *sample {
	class, _ := fold(l.Label)
	s := &sample{url: l.URL, label: l.Label, host: host, class: class, judged: t.HasText()}
	c := counted(t)
	s.x = c.features(t, Hints{Name: l.URL})
	if first := t.front(); first != nil {
		fc := counted(first)
		s.front, s.mayStop = ofFront(fc.features(first, Hints{Name: l.URL})), !fc.slow(first)
		s.opens = fc.paperEvidence(first, s.front) != ""
	}
	s.thesis, s.paper = c.thesisEvidence(t) != "", c.paperEvidence(t, s.x) != ""
	return s
}

// trainer holds what the folds share.
type trainer struct {
	samples []sample
	extra   []learn.Example
}

// fit trains the models: of whole documents, and of their first pages.
func (t *trainer) fit(samples []sample) (*FilterModel, error) {
	whole := func(s sample) Features { return s.x }
	first := func(s sample) Features {
		if s.front == nil {
			return s.x
		}
		return s.front
	}
	m := &FilterModel{Front: &FrontModel{}}
	var err error
	if m.Academic, m.Kinds, err = t.fitBoth(samples, whole); err != nil {
		return nil, err
	}
	m.Front.Academic, m.Front.Kinds, err = t.fitBoth(samples, first)
	return m, err
}

// fitBoth trains "academic or not" and what the others are. Documents without
// text teach nothing and are left out; so are, for the kinds, those of the
// published set, which has none.
func (t *trainer) fitBoth(samples []sample, of func(sample) Features) (a, k *learn.Logistic, err error) {
	var academic, kinds []learn.Example
	for _, s := range samples {
		if !s.judged {
			continue
		}
		label := otherLabel
		if s.class.Academic() {
			label = academicLabel
		} else {
			kinds = append(kinds, learn.Example{X: of(s), Label: string(s.class)})
		}
		academic = append(academic, learn.Example{X: of(s), Label: label})
	}
	for _, e := range t.extra {
		e.Weight = publishedWeight
		academic = append(academic, e)
	}
	if a, err = learn.TrainLogistic(academic, learn.LogisticOptions{Features: featureNames, L2: trainL2, Balanced: trainBalanced}); err != nil {
		return nil, nil, fmt.Errorf("academic or not: %w", err)
	}
	if k, err = learn.TrainLogistic(kinds, learn.LogisticOptions{Features: featureNames, L2: kindsL2, Balanced: trainBalanced}); err != nil {
		return nil, nil, fmt.Errorf("kinds: %w", err)
	}
	shorten(a)
	shorten(k)
	return a, k, nil
}

// shorten rounds weights to six places: enough for any decision, and the last
// bits of a sum differ between machines.
func shorten(m *learn.Logistic) {
	round := func(v []float64) {
		for i := range v {
			v[i] = math.Round(v[i]*1e6) / 1e6
		}
	}
	round(m.Mean)
	for i := range m.Scale {
		m.Scale[i] = max(1e-6, math.Round(m.Scale[i]*1e6)/1e6)
	}
	round(m.Bias)
	for _, w := range m.Weights {
		round(w)
	}
}

// crossValidate leaves one site out at a time.
func (t *trainer) crossValidate() *TrainReport {
	r := &TrainReport{samples: t.samples, Published: len(t.extra)}
	var sites []string
	for _, s := range t.samples {
		if !slices.Contains(sites, s.host) {
			sites = append(sites, s.host)
		}
	}
	slices.Sort(sites)
	r.Sites = len(sites)
	r.scores, r.said = make([]float64, len(t.samples)), make([]Class, len(t.samples))
	r.whole = make([]float64, len(t.samples))
	r.fronts = slices.Repeat([]float64{math.NaN()}, len(t.samples))
	for _, site := range sites {
		m, err := t.fit(slices.DeleteFunc(slices.Clone(t.samples), func(s sample) bool { return s.host == site }))
		for i, s := range t.samples {
			if s.host != site {
				continue
			}
			r.said[i] = Other
			if err != nil || !s.judged {
				continue
			}
			r.scores[i], r.whole[i], r.fronts[i], r.said[i] = m.judge(s)
		}
	}
	r.transfer(t)
	return r
}

// judge is what the filter says of a sample: by its first pages where these settle
// it, else by all. front is NaN where they may not settle anything.
func (m *FilterModel) judge(s sample) (score, whole, front float64, said Class) {
	whole = m.Academic.Probability(s.x, academicLabel)
	if s.thesis || s.paper {
		whole = max(whole, evidenceScore)
	}
	front = math.NaN()
	if s.front != nil && s.mayStop {
		front = m.Front.Academic.Probability(s.front, academicLabel)
		if s.opens {
			front = max(front, evidenceScore)
		}
	}
	if settled(front) {
		_, said = classes(m.Front.Kinds, s.front, front, false, front > surely)
		return front, whole, front, said
	}
	_, said = classes(m.Kinds, s.x, whole, s.thesis, whole >= 0.5)
	return whole, whole, front, said
}

// transfer measures the published set by itself, in ten folds.
func (r *TrainReport) transfer(t *trainer) {
	if len(t.extra) == 0 {
		return
	}
	classes := []string{academicLabel, otherLabel}
	r.PublishedAlone = learn.NewConfusion(classes)
	for i, p := range learn.CrossLogistic(t.extra, learn.KFolds(t.extra, 10), classes, learn.LogisticOptions{L2: 0.01}) {
		if k := learn.Best(p); k >= 0 {
			r.PublishedAlone.Add(t.extra[i].Label, classes[k])
		}
	}
}

func labelOf(academic bool) string {
	if academic {
		return academicLabel
	}
	return otherLabel
}
