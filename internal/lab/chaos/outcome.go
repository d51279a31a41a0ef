//go:build linux

package chaos

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/devstack/temporalapi"
	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/lab/sampleweb"
)

// outcome is what a harvest left behind.
type outcome struct {
	papers  map[string]string // key → SHA-256 of what was found for it
	missing map[string]string // key → reason
	published,
	found int
	requests  []sampleweb.Request // to the web
	all       []sampleweb.Request // to the services, too
	harvested map[string]bool     // hosts of the harvest; the others are the collection's
	imported,
	collected map[string]bool // what became of each file; entries by topic
	blobs   map[string]bool // SHA-256 of what lies in the store
	rows    map[string]bool // SHA-256 of the rows whose file is to be there
	open    []string        // workflows that have not ended
	doubled int             // files and URLs that are there twice
	wrong   []string        // what does not add up in the record
	gaveUp  []string        // what the command said that was to wait for the harvest
}

func (w *world) look(ctx context.Context, o *outcome) error {
	if err := w.closeWorkflows(ctx, o); err != nil {
		return err
	}
	for _, part := range []func(context.Context, *outcome) error{w.lookAtPapers, w.lookAtReport, w.lookAtRecord, w.lookAtBlobs} {
		if err := part(ctx, o); err != nil {
			return err
		}
	}
	o.requests, o.all = w.requests(), w.web.Log()
	o.harvested = each.Members(w.web.Hosts())
	return nil
}

// requests are those of the log but for what asked the two services.
func (w *world) requests() []sampleweb.Request {
	return slices.DeleteFunc(w.web.Log(), func(q sampleweb.Request) bool { return q.Host == sampleweb.DBLPHost || q.Host == sampleweb.SearchHost })
}

// closeWorkflows waits until nothing runs: what still does after that waits for
// ever.
func (w *world) closeWorkflows(ctx context.Context, o *outcome) (err error) {
	for end := time.Now().Add(w.o.Patience); time.Now().Before(end); {
		o.open, _, _, err = temporalapi.Histories(ctx, w.temporal.stack.TemporalAddress, "default")
		if err == nil && len(o.open) == 0 {
			return nil
		}
		if err := fetch.Wait(ctx, time.Second); err != nil {
			return err
		}
	}
	return err
}

func (w *world) lookAtPapers(ctx context.Context, o *outcome) error {
	out, err := w.starter(ctx, "export", w.venue(), "--format", "jsonl")
	if err != nil {
		return err
	}
	o.papers = map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var p struct{ Paper, SHA256 string }
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		o.papers[p.Paper] = p.SHA256
	}
	return nil
}

func (w *world) lookAtReport(ctx context.Context, o *outcome) error {
	out, err := w.starter(ctx, "report", w.venue()+"/"+w.years(), "--json")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.dir, "report.json"), out, 0o600); err != nil {
		return err
	}
	var r struct {
		Summary struct{ Published, Found int }
		Missing []struct{ Paper, Reason string }
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	o.published, o.found, o.missing = r.Summary.Published, r.Summary.Found, map[string]string{}
	for _, m := range r.Missing {
		o.missing[m.Paper] = m.Reason
	}
	return nil
}

func (w *world) lookAtRecord(ctx context.Context, o *outcome) error {
	conn, err := pgx.Connect(ctx, w.postgres.stack.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	if o.rows, err = setOf(ctx, conn, `SELECT sha256 FROM documents WHERE blob_removed_at IS NULL`); err != nil {
		return err
	}
	for what, sql := range map[string]string{
		"documents that nobody examined":          `SELECT count(*) FROM documents WHERE state='new'`,
		"documents given up":                      `SELECT count(*) FROM documents WHERE state='failed'`,
		"documents that timed out":                `SELECT count(*) FROM documents WHERE outcome='timeout'`,
		"sites being crawled though nobody works": `SELECT count(*) FROM sites WHERE state='crawling'`,
		"imports and collections that did not end": `SELECT (SELECT count(*) FROM jobs WHERE state<>'ended') +
			(SELECT count(*) FROM collections WHERE state<>'ended')`,
	} {
		var n int
		if err := conn.QueryRow(ctx, sql).Scan(&n); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if n > 0 {
			o.wrong = append(o.wrong, fmt.Sprintf("%d %s", n, what))
		}
	}
	err = conn.QueryRow(ctx, `SELECT count(*) FROM (
		SELECT FROM locations WHERE current GROUP BY hash, member HAVING count(*) > 1 UNION ALL
		SELECT FROM import_records GROUP BY job, url HAVING count(*) > 1) t`).Scan(&o.doubled)
	if err != nil {
		return err
	}
	return lookBeside(ctx, conn, o)
}

var blobName = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (w *world) lookAtBlobs(_ context.Context, o *outcome) error {
	o.blobs = map[string]bool{}
	return filepath.WalkDir(w.blobs, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && blobName.MatchString(d.Name()) {
			o.blobs[d.Name()] = true
		}
		return err
	})
}

// without returns the keys of a that b lacks.
func without[V any, W any](a map[string]V, b map[string]W) []string {
	var out []string
	for k := range maps.Keys(a) {
		if _, ok := b[k]; !ok {
			out = append(out, k)
		}
	}
	return out
}
