package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count what this process does. They implement app.Watch.
type Metrics struct {
	requests  *prometheus.CounterVec
	bytes     prometheus.Counter
	fetch     prometheus.Histogram
	judge     *prometheus.HistogramVec
	pages     prometheus.Counter
	documents prometheus.Counter
	accepted  prometheus.Counter
	found     prometheus.Counter
	slices    *prometheus.CounterVec
	mended    *prometheus.CounterVec
}

// newMetrics makes the metrics and registers them. kinds are those that Mended
// is called with, so that the first repair is seen as a rise.
func newMetrics(r prometheus.Registerer, kinds ...string) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "gleaner", Name: name, Help: help})
	}
	vector := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "gleaner", Name: name, Help: help}, labels)
	}
	m := &Metrics{
		requests:  vector("requests_total", "Requests for pages and documents, by outcome.", "outcome"),
		bytes:     counter("received_bytes_total", "Bytes of answers, as they came over the wire."),
		pages:     counter("pages_total", "Pages read by crawls."),
		documents: counter("documents_total", "Documents fetched by crawls."),
		accepted:  counter("accepted_total", "Documents of crawls that were accepted as papers."),
		found:     counter("found_total", "Documents of crawls that are a wanted paper."),
		slices:    vector("slices_total", "Slices of crawls, by why they ended.", "ending"),
		mended:    vector("mended_total", "Things that the reconciler mended, by kind.", "kind"),
		fetch: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "gleaner", Name: "fetch_seconds",
			Help: "Time an answer took, from the request to its last byte; waits for a turn are left out.", Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}}),
		judge: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "gleaner", Name: "judge_seconds",
			Help: "Time to read, filter and match a document.", Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120}}, []string{"state", "class"}),
	}
	for _, k := range kinds {
		m.mended.WithLabelValues(k)
	}
	r.MustRegister(m.requests, m.bytes, m.pages, m.documents, m.accepted, m.found, m.slices, m.mended, m.fetch, m.judge)
	return m
}

func (m *Metrics) Fetched(outcome string, took time.Duration, bytes int64) {
	m.requests.WithLabelValues(outcome).Inc()
	m.bytes.Add(float64(bytes))
	if took > 0 {
		m.fetch.Observe(took.Seconds())
	}
}

func (m *Metrics) Crawled(pages, documents, accepted, found int) {
	m.pages.Add(float64(pages))
	m.documents.Add(float64(documents))
	m.accepted.Add(float64(accepted))
	m.found.Add(float64(found))
}

func (m *Metrics) SliceEnded(ending string) { m.slices.WithLabelValues(ending).Inc() }

func (m *Metrics) Judged(state, class string, took time.Duration) {
	m.judge.WithLabelValues(state, class).Observe(took.Seconds())
}

// Mended counts what the reconciler did.
func (m *Metrics) Mended(kind string) { m.mended.WithLabelValues(kind).Inc() }
