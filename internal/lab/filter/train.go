// Package filter learns the weights of the academic filter from labelled documents, and
// measures them.
package filter

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

	"gleaner/internal/document"
	"gleaner/internal/guard"
	"gleaner/internal/lab/measure"
	"gleaner/internal/learn"
)

// Options say what a filter is trained on.
type Options struct {
	Dir       string // mirror: DIR/<host>/<path>
	Labels    []Labelled
	Published string // the published training set (ARFF), "" for none
	Reader    *document.Reader
	Workers   int // documents read at a time; 0 means 2
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
	document.Sample
	url, label, host string
	class            document.Class
}

// Train reads the labelled documents, cross-validates by site, and fits
// the weights on all of them. Documents that are not in Dir are left out and
// counted in the report. The same files, labels and readers give the same
// weights.
func Train(ctx context.Context, opt Options) (*document.FilterModel, *Report, error) {
	samples, missing, err := readSamples(ctx, opt)
	if err != nil {
		return nil, nil, err
	}
	var extra []learn.Example
	if opt.Published != "" {
		if extra, err = readPublished(opt.Published); err != nil {
			return nil, nil, err
		}
	}
	t := trainer{samples: samples, extra: extra}
	m, err := t.fit(samples)
	if err != nil {
		return nil, nil, err
	}
	report := t.crossValidate()
	report.Missing = missing
	m.Points = report.points()
	m.Figures = report.figures()
	m.Front.Settled = report.settled()
	m.Command = "lab train filter"
	m.Origin = fmt.Sprintf("%d labelled documents of %d sites, %d rows of the published training set", len(samples), report.Sites, len(extra))
	return m, report, nil
}

func readSamples(ctx context.Context, opt Options) ([]sample, []string, error) {
	out := make([]*sample, len(opt.Labels))
	g, gctx := guard.WithContext(ctx)
	g.SetLimit(max(opt.Workers, 2))
	var mu sync.Mutex
	var missing []string
	for i, l := range opt.Labels {
		g.Go(func() error {
			s, err := readSample(gctx, opt.Reader, opt.Dir, l)
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

func readSample(ctx context.Context, r *document.Reader, dir string, l Labelled) (*sample, error) {
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
	t, err := r.Read(ctx, document.Part{Name: l.URL, Body: body})
	if err != nil {
		return nil, err
	}
	class, _ := document.ClassOf(l.Label)
	return &sample{t.Sample(document.Hints{Name: l.URL}), l.URL, l.Label, u.Host, class}, nil
}

// trainer holds what the folds share.
type trainer struct {
	samples []sample
	extra   []learn.Example
}

// fit trains the models: of whole documents, and of their first pages.
func (t *trainer) fit(samples []sample) (*document.FilterModel, error) {
	whole := func(s sample) document.Features { return s.X }
	first := func(s sample) document.Features {
		if s.Front == nil {
			return s.X
		}
		return s.Front
	}
	m := &document.FilterModel{Front: &document.FrontModel{}}
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
func (t *trainer) fitBoth(samples []sample, of func(sample) document.Features) (a, k *learn.Logistic, err error) {
	var academic, kinds []learn.Example
	for _, s := range samples {
		if !s.HasText {
			continue
		}
		label := document.LabelOther
		if s.class.Academic() {
			label = document.LabelAcademic
		} else {
			kinds = append(kinds, learn.Example{X: of(s), Label: string(s.class)})
		}
		academic = append(academic, learn.Example{X: of(s), Label: label})
	}
	for _, e := range t.extra {
		e.Weight = publishedWeight
		academic = append(academic, e)
	}
	if a, err = learn.TrainLogistic(academic, learn.LogisticOptions{Features: document.FeatureNames(), L2: trainL2, Balanced: trainBalanced}); err != nil {
		return nil, nil, fmt.Errorf("academic or not: %w", err)
	}
	if k, err = learn.TrainLogistic(kinds, learn.LogisticOptions{Features: document.FeatureNames(), L2: kindsL2, Balanced: trainBalanced}); err != nil {
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
func (t *trainer) crossValidate() *Report {
	r := &Report{samples: t.samples, Published: len(t.extra)}
	var sites []string
	for _, s := range t.samples {
		if !slices.Contains(sites, s.host) {
			sites = append(sites, s.host)
		}
	}
	slices.Sort(sites)
	r.Sites = len(sites)
	r.scores, r.said = make([]float64, len(t.samples)), make([]document.Class, len(t.samples))
	r.whole = make([]float64, len(t.samples))
	r.fronts = slices.Repeat([]float64{math.NaN()}, len(t.samples))
	for _, site := range sites {
		m, err := t.fit(slices.DeleteFunc(slices.Clone(t.samples), func(s sample) bool { return s.host == site }))
		for i, s := range t.samples {
			if s.host != site {
				continue
			}
			r.said[i] = document.Other
			if err != nil || !s.HasText {
				continue
			}
			r.scores[i], r.whole[i], r.fronts[i], r.said[i] = m.JudgeSample(s.Sample)
		}
	}
	r.transfer(t)
	return r
}

// transfer measures the published set by itself, in ten folds.
func (r *Report) transfer(t *trainer) {
	if len(t.extra) == 0 {
		return
	}
	r.PublishedAlone = measure.NewConfusion([]string{document.LabelAcademic, document.LabelOther})
	for _, f := range measure.KFolds(t.extra, 10) {
		m, err := learn.TrainLogistic(learn.Pick(t.extra, f.Train), learn.LogisticOptions{L2: 0.01})
		if err != nil {
			continue
		}
		for _, e := range learn.Pick(t.extra, f.Test) {
			r.PublishedAlone.Add(e.Label, labelOf(m.Probability(e.X, document.LabelAcademic) >= 0.5))
		}
	}
}

func labelOf(academic bool) string {
	if academic {
		return document.LabelAcademic
	}
	return document.LabelOther
}
