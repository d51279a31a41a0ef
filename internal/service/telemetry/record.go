package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gleaner/internal/record/store"
)

// Record is asked for its numbers (store.DB). Their names come without
// "gleaner_".
type Record interface {
	Gauges(ctx context.Context) ([]store.Gauge, error)
}

// recordMetrics are the names that a Record may give, with their labels.
var recordMetrics = map[string]struct {
	help   string
	labels []string
}{
	"documents":           {"Documents, by state and class.", []string{"state", "class"}},
	"documents_bytes":     {"Bytes of all documents.", nil},
	"sites":               {"Sites, by the state of their crawl.", []string{"state"}},
	"sites_parked":        {"Hosts left alone for a while, since they kept failing or asked for it.", nil},
	"sites_leased":        {"Hosts that a process is asking now.", nil},
	"sites_due":           {"Sites whose rest is over.", nil},
	"frontier_waiting":    {"URLs waiting to be asked for, by queue: those of the highest are asked first.", []string{"queue"}},
	"harvests":            {"Harvests, by stage.", []string{"stage"}},
	"papers_published":    {"Papers of all harvests.", nil},
	"papers_wanted":       {"Papers that some harvest wants and the library lacks.", nil},
	"papers_found":        {"Wanted papers that were found.", nil},
	"documents_to_review": {"Documents that may be a wanted paper, for a person to say.", nil},
	"database_bytes":      {"Size of the database.", nil},
}

// RecordCollector gives the numbers of the record to whoever scrapes. It asks
// the record at most once in MinAge, and not more often than leaves it nineteen
// parts in twenty of its time.
type RecordCollector struct {
	record Record
	log    *slog.Logger
	descs  map[string]*prometheus.Desc
	up     *prometheus.Desc
	minAge time.Duration

	mu     sync.Mutex
	gauges []store.Gauge
	ok     bool
	fresh  time.Time // until when gauges hold
}

// NewRecordCollector makes a collector; minAge is 15 s in service.
func NewRecordCollector(r Record, minAge time.Duration, log *slog.Logger) *RecordCollector {
	c := &RecordCollector{record: r, log: log, minAge: minAge, descs: map[string]*prometheus.Desc{},
		up: prometheus.NewDesc("gleaner_record_up", "1 if the database answered when it was asked for its numbers.", nil, nil)}
	for name, m := range recordMetrics {
		c.descs[name] = prometheus.NewDesc("gleaner_"+name, m.help, m.labels, nil)
	}
	return c
}

func (c *RecordCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.up
	for _, d := range c.descs {
		ch <- d
	}
}

func (c *RecordCollector) Collect(ch chan<- prometheus.Metric) {
	gauges, ok := c.latest()
	up := 0.0
	if ok {
		up = 1
	}
	ch <- prometheus.MustNewConstMetric(c.up, prometheus.GaugeValue, up)
	for _, g := range gauges {
		if d, known := c.descs[g.Name]; known {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, g.Value, g.Labels...)
		}
	}
}

func (c *RecordCollector) latest() ([]store.Gauge, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Before(c.fresh) {
		return c.gauges, c.ok
	}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	gauges, err := c.record.Gauges(ctx)
	took := time.Since(now)
	c.fresh = time.Now().Add(max(c.minAge, 19*took))
	// Old numbers would look like a record that stands still.
	c.gauges, c.ok = gauges, err == nil
	if err != nil {
		c.gauges = nil
		c.log.Warn("the record's metrics cannot be computed", "error", err, "took", took)
	}
	return c.gauges, c.ok
}
