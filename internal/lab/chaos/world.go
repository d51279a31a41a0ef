//go:build linux

package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"gleaner/internal/devstack"
	"gleaner/internal/devstack/line"
	"gleaner/internal/devstack/temporalapi"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/service/config"
)

// world is all that one harvest runs on, each part breakable.
type world struct {
	o        Options
	dir      string
	web      *sampleweb.Web
	server   *httptest.Server
	postgres *server
	temporal *server
	toPG     *line.Line // between the workers and Postgres
	toTemp   *line.Line // between the workers and Temporal
	disk     string     // what the blobs lie on; "" where it cannot be made small
	blobs    string
	workers  []*process
	env      []string
}

// suggestContinueAsNew is the length of a history from which on the server
// suggests to continue as new: so short that every workflow does so, at every
// point sooner or later.
const suggestContinueAsNew = "120"

// diskSize is what the blobs' disk holds, with room for them all.
const diskSize = 256 << 20

func newWorld(ctx context.Context, o Options, dir string) (w *world, err error) {
	w = &world{o: o, dir: dir, web: sampleweb.New(sampleweb.Options{
		Seed:         o.Seed,
		PagesPerSite: o.PagesPerSite,
		Beside:       topicWeb(o).Serve(),
	})}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	w.server = httptest.NewServer(w.web)
	w.postgres = &server{options: devstack.Options{DataDir: filepath.Join(dir, "postgres"), NoTemporal: true}}
	w.temporal = &server{options: devstack.Options{DataDir: filepath.Join(dir, "temporal"), NoPostgres: true, Headless: true,
		Ready:            temporalapi.EnsureSearchAttributes,
		SearchAttributes: gleaner.SearchAttributes(),
		DynamicConfig:    map[string]string{"limit.historyCount.suggestContinueAsNew": suggestContinueAsNew}}}
	for _, s := range []*server{w.postgres, w.temporal} {
		if err := s.start(ctx); err != nil {
			return w, err
		}
	}
	pg, err := url.Parse(w.postgres.stack.DatabaseURL)
	if err != nil {
		return w, err
	}
	if w.toPG, err = line.New(pg.Host); err != nil {
		return w, err
	}
	if w.toTemp, err = line.New(w.temporal.stack.TemporalAddress); err != nil {
		return w, err
	}
	if err := w.makeDisk(); err != nil {
		return w, err
	}
	pg.Host = w.toPG.Address()
	w.environment(pg.String())
	policy, err := w.policy("policy.yaml", func(*config.Policy) {})
	if err != nil {
		return w, err
	}
	w.env = append(w.env, policy)
	return w, w.startWorkers()
}

// makeDisk gives the blobs a small disk of their own, where the system lets us.
func (w *world) makeDisk() error {
	w.disk = filepath.Join(w.dir, "disk")
	w.blobs = filepath.Join(w.disk, "blobs")
	if err := os.MkdirAll(w.disk, 0o700); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", w.disk, "tmpfs", 0, fmt.Sprintf("size=%d", diskSize)); err != nil {
		w.disk = ""
	}
	return os.MkdirAll(w.blobs, 0o700)
}

func (w *world) environment(database string) {
	settings := map[string]string{
		"GLEANER_DATABASE_URL": database, "TEMPORAL_ADDRESS": w.toTemp.Address(), "GLEANER_REPOSITORY_URL": "file://" + w.blobs,
		"GLEANER_DATA_DIR": filepath.Join(w.dir, "data"), "GLEANER_PROXY": w.server.URL, "GLEANER_CONTACT": "chaos@example.org",
		"GLEANER_DELAY": w.o.Delay.String(), "GLEANER_MIN_DELAY": w.o.Delay.String(),
		"GLEANER_DBLP_URL": sampleweb.DBLPURL, "GLEANER_DBLP_DELAY": "1ms",
		"GLEANER_OCR":    "false", // it takes the processors for minutes
		"GLEANER_SEARCH": "searxng", "GLEANER_SEARXNG_URL": sampleweb.SearchURL,
		"PATH": os.Getenv("PATH"), "HOME": w.dir, "TMPDIR": w.dir,
	}
	for key, value := range settings {
		w.env = append(w.env, key+"="+value)
	}
}

// policy writes a policy file, and returns the variable that names it.
func (w *world) policy(name string, change func(*config.Policy)) (variable string, err error) {
	p := config.Defaults().Policy
	p.Crawl.RetryBase = time.Second
	change(&p)
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		return "", err
	}
	file := filepath.Join(w.dir, name)
	return "GLEANER_POLICY=" + file, os.WriteFile(file, text.Bytes(), 0o600)
}

func (w *world) startWorkers() error {
	for i := range w.o.Workers {
		p := &process{name: fmt.Sprintf("worker %d", i+1), log: filepath.Join(w.dir, fmt.Sprintf("worker-%d.log", i+1)),
			command: func() *exec.Cmd { return w.program(context.Background(), "worker") }}
		if err := p.start(); err != nil {
			return err
		}
		w.workers = append(w.workers, p)
	}
	return nil
}

func (w *world) program(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(w.o.Bin, name), args...)
	cmd.Env = w.env
	return cmd
}

// starter runs the command line and returns what it prints.
func (w *world) starter(ctx context.Context, args ...string) ([]byte, error) {
	var errs strings.Builder
	cmd := w.program(ctx, "starter", args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("starter %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out, nil
}

func (w *world) years() string {
	first, last := w.web.Years()
	return fmt.Sprintf("%d-%d", first, last)
}

func (w *world) venue() string { return w.web.Venues()[0] }

func (w *world) close() error {
	for _, p := range w.workers {
		p.end(syscall.SIGKILL)
	}
	var err error
	for _, s := range []*server{w.temporal, w.postgres} {
		if s != nil {
			err = errors.Join(err, s.stop())
		}
	}
	for _, r := range []*line.Line{w.toPG, w.toTemp} {
		if r != nil {
			r.Close()
		}
	}
	if w.server != nil {
		w.server.CloseClientConnections()
		w.server.Close()
	}
	if w.disk != "" {
		err = errors.Join(err, syscall.Unmount(w.disk, 0))
	}
	return err
}
