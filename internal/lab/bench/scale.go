package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"gleaner/internal/devstack/temporalapi"
	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/record/store"
	"gleaner/internal/service/config"
)

// ScaleOptions say how many hosts Scale crawls at once, and with what.
type ScaleOptions struct {
	Web     *Web
	Visits  func() ([]*Visits, error) // ends the web
	Workers int                       // processes
	Dir     string                    // of the workers' files
	Pace    time.Duration             // from an answer of a host to the next request
	Kill    bool                      // the first worker, once half of the pages were asked for
	Servers
}

// Scale is what a crawl of many hosts at once came to. Figures that are not known are 0.
type Scale struct {
	Hosts    int     `json:"hosts"`
	URLs     int     `json:"urls"`
	Requests int     `json:"requests"`
	Seconds  float64 `json:"seconds"`
	// PaceMedian and PaceSlowest are shares of the requests that the pace allowed the hosts, from the
	// start of all crawls to a host's last request.
	PaceMedian           float64 `json:"pace_median"`
	PaceSlowest          float64 `json:"pace_slowest"`
	EventsPer1000        float64 `json:"events_per_1000"` // of Temporal's histories, by requests
	StatementsPerRequest float64 `json:"statements_per_request"`
	Connections          int     `json:"connections"`            // to Postgres, at most
	BytesPerWaitingHost  float64 `json:"bytes_per_waiting_host"` // memory of the workers beyond that at their start, by leases, when these were most
	RecordBytesPerURL    float64 `json:"record_bytes_per_url"`
	Impolite             int     `json:"impolite"`    // requests before their time, or beside another to the host
	LongestGap           float64 `json:"longest_gap"` // seconds from the end of an answer to the next request
	Repeated             int     `json:"repeated"`    // requests beyond one a page and one for robots.txt
	// Seconds of processors' time that the workers and the servers used.
	WorkerCPU   float64 `json:"worker_cpu_seconds"`
	DatabaseCPU float64 `json:"database_cpu_seconds"`
	TemporalCPU float64 `json:"temporal_cpu_seconds"`
}

// scaleRun is a run of Scale.
type scaleRun struct {
	ScaleOptions
	Scale
	db      *store.DB
	dsn     string
	workers []*exec.Cmd
	base    int64 // memory of the workers at the start
	leases  int   // at most, so far
}

// RunScale starts the crawls of all hosts of a web at once, on worker processes, and
// measures until the last has ended.
func RunScale(ctx context.Context, o ScaleOptions) (s Scale, err error) {
	err = withDatabase(ctx, o.DatabaseURL, func(dsn string) error {
		r := &scaleRun{ScaleOptions: o, Scale: Scale{Hosts: len(o.Web.Hosts)}, dsn: dsn}
		if r.db, err = store.Open(ctx, dsn, 2); err != nil {
			return err
		}
		defer r.db.Close()
		err = r.run(ctx)
		s = r.Scale
		return err
	})
	return s, err
}

func (r *scaleRun) run(ctx context.Context) error {
	if err := r.seed(ctx); err != nil {
		return err
	}
	defer r.stop()
	for range r.Workers {
		if err := r.startWorker(ctx); err != nil {
			return err
		}
	}
	var size int64
	const sizeSQL = `SELECT pg_database_size(current_database())`
	if err := r.db.Pool.QueryRow(ctx, sizeSQL).Scan(&size); err != nil {
		return err
	}
	before := r.statements(ctx)
	used := r.cpu()
	began := time.Now()
	crawls := map[string]any{}
	for _, host := range r.Web.Hosts {
		crawls["site/"+host] = map[string]any{"host": host, "venues": []string{"bench"}}
	}
	if err := temporalapi.StartWorkflows(ctx, r.Temporal, r.Namespace, "harvest", "CrawlSite", crawls); err != nil {
		return err
	}
	if err := r.wait(ctx); err != nil {
		return err
	}
	r.Seconds = time.Since(began).Seconds()
	now := r.cpu()
	r.WorkerCPU, r.DatabaseCPU, r.TemporalCPU = now[0]-used[0], now[1]-used[1], now[2]-used[2]
	asked := r.statements(ctx) - before
	if err := r.db.Pool.QueryRow(ctx, `SELECT count(*), (`+sizeSQL+`) - $1 FROM urls`, size).Scan(&r.URLs, &r.RecordBytesPerURL); err != nil {
		return err
	}
	events, err := r.events(ctx)
	if err != nil {
		return err
	}
	visits, err := r.Visits()
	if err != nil {
		return err
	}
	r.count(visits, began)
	r.Repeated = r.Requests - r.Hosts*(r.Web.Pages+1)
	n := float64(max(r.Requests, 1))
	r.EventsPer1000, r.StatementsPerRequest = 1000*float64(events)/n, asked/n
	r.RecordBytesPerURL /= float64(max(r.URLs, 1))
	return nil
}

// seed enters all hosts, wanted by a harvest that no workflow runs. Its time keeps
// whoever looks for lost harvests from ending it.
func (r *scaleRun) seed(ctx context.Context) error {
	_, err := r.db.Pool.Exec(ctx, `INSERT INTO harvests (id, venue, year_from, year_to, options, stage, updated_at)
		VALUES ('bench', 'bench', 2000, 2000, '{}', 'crawl', now() + interval '1 year')`)
	if err != nil {
		return err
	}
	return seed(ctx, r.db, r.Web, "bench")
}

// startWorker starts a worker process, and waits until it takes work.
func (r *scaleRun) startWorker(ctx context.Context) error {
	policy := filepath.Join(r.Dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte("poor: {trap-pages: 0}\n"), 0o600); err != nil { // a web without documents is a trap
		return err
	}
	ports := each.Of(r.Web.Hosts, func(host string) string { return host[strings.LastIndexByte(host, ':')+1:] })
	cmd := exec.CommandContext(ctx, r.Worker)
	cmd.Env = os.Environ()
	for key, value := range map[string]string{
		"data-dir":           r.Dir,
		"database-url":       r.dsn,
		"temporal-address":   r.Temporal,
		"temporal-namespace": r.Namespace,
		"proxy":              "none",
		"contact":            "bench@example.org",
		"allow-addresses":    "127.0.0.0/8",
		"ports":              strings.Join(ports, ","),
		"delay":              r.Pace.String(),
		"min-delay":          r.Pace.String(),
		"max-pages":          fmt.Sprint(10 * r.Web.Pages),
		"log-level":          "error",
		"policy":             policy,
	} {
		s, known := config.Find(key)
		if !known {
			return fmt.Errorf("bench: no setting is called %s", key)
		}
		cmd.Env = append(cmd.Env, s.Env+"="+value)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("bench: the worker program does not start: %w", err)
	}
	r.workers = append(r.workers, cmd)
	return nil
}

func (r *scaleRun) stop() {
	for _, w := range r.workers {
		_ = w.Process.Signal(syscall.SIGTERM)
	}
	for _, w := range r.workers {
		_ = w.Wait()
	}
}

// cpu is what the workers, Postgres and Temporal have used.
func (r *scaleRun) cpu() (seconds [3]float64) {
	used := func(i int, cpu func() float64) {
		if cpu != nil {
			seconds[i] += cpu()
		}
	}
	for _, w := range r.workers {
		used(0, ServerCPU(w.Process.Pid))
	}
	used(1, r.DatabaseUsed)
	used(2, r.TemporalUsed)
	return seconds
}

// statements is how many the database was asked so far; 0 where they are not counted.
func (r *scaleRun) statements(ctx context.Context) (n float64) {
	_, _ = r.db.Pool.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS pg_stat_statements`)
	_ = r.db.Pool.QueryRow(ctx, `SELECT sum(calls) FROM pg_stat_statements s
		JOIN pg_database d ON d.oid = s.dbid AND d.datname = current_database()`).Scan(&n)
	return n
}

// wait waits until all crawls have ended, and notes connections and memory.
func (r *scaleRun) wait(ctx context.Context) error {
	for {
		var open, leases, connections, pages int
		err := r.db.Pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE state IN ('new', 'crawling')), count(*) FILTER (WHERE holder <> ''),
			(SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()), sum(crawl_pages) FROM sites`).
			Scan(&open, &leases, &connections, &pages)
		if err != nil || open == 0 {
			return err
		}
		var bytes int64
		for _, w := range r.workers {
			bytes += resident(w.Process.Pid)
		}
		if leases == 0 {
			r.base = bytes
		} else if leases >= r.leases {
			r.leases, r.BytesPerWaitingHost = leases, float64(bytes-r.base)/float64(leases)
		}
		r.Connections = max(r.Connections, connections)
		if r.Kill && 2*pages > r.Web.Pages*r.Scale.Hosts {
			r.Kill = false
			_ = r.workers[0].Process.Kill()
		}
		if err := fetch.Wait(ctx, time.Second/2); err != nil {
			return err
		}
	}
}

// events is the length of all histories, when all workflows have ended.
func (r *scaleRun) events(ctx context.Context) (int64, error) {
	for {
		open, runs, events, err := temporalapi.Histories(ctx, r.Temporal, r.Namespace)
		if err != nil || len(open) == 0 && runs >= r.Hosts {
			return events, err
		}
		if err := fetch.Wait(ctx, time.Second/5); err != nil {
			return 0, err
		}
	}
}

func (r *scaleRun) count(visits []*Visits, began time.Time) {
	shares := make([]float64, 0, len(visits))
	for _, v := range visits {
		r.Requests += v.Requests
		r.Impolite += v.Overlapping
		for _, gap := range v.Gaps {
			if gap < r.Pace.Seconds() {
				r.Impolite++
			}
			r.LongestGap = max(r.LongestGap, gap)
		}
		allowed := 1.0
		if v.Requests > 0 && r.Pace > 0 {
			allowed += v.Last.Sub(began).Seconds() / r.Pace.Seconds()
		}
		shares = append(shares, min(1, float64(v.Requests)/allowed))
	}
	slices.Sort(shares)
	if len(shares) > 0 {
		r.PaceMedian, r.PaceSlowest = shares[len(shares)/2], shares[0]
	}
}

// temporalOnce crawls the web by workflows, on a worker process.
func temporalOnce(ctx context.Context, web *Web, o Options) (Run, error) {
	dir, err := os.MkdirTemp("", "gleaner-bench-*")
	if err != nil {
		return Run{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ended := func() ([]*Visits, error) { return nil, nil }
	s, err := RunScale(ctx, ScaleOptions{Web: web, Visits: ended, Workers: 1, Dir: dir, Pace: o.delay, Servers: o.Servers})
	return Run{Seconds: s.Seconds, CPU: s.WorkerCPU, DatabaseCPU: s.DatabaseCPU}, err
}

// WorkerProgram is the worker program beside this one.
func WorkerProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return exec.LookPath(filepath.Join(filepath.Dir(self), "worker"))
}
