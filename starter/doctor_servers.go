package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/text"
	"gleaner/worker/pool"
)

// Bounds beyond which the doctor speaks up.
const (
	oldestPostgres = 130000
	clockWarn      = 2 * time.Second
	clockFail      = 30 * time.Second
)

func (d *doctor) database(ctx context.Context) {
	dsn := string(d.cfg.Servers.Database)
	if dsn == "" {
		d.fail("database", "start `starter dev`, or set GLEANER_DATABASE_URL", errors.New("none is configured"))
		return
	}
	i, err := store.Inspect(ctx, dsn)
	if d.fail("database", "check GLEANER_DATABASE_URL and that the server runs", err) {
		return
	}
	if i.VersionNum < oldestPostgres {
		d.warn("database", "move to a supported release", "PostgreSQL %s is old", i.Version)
	} else {
		d.ok("database", "PostgreSQL %s, %s", i.Version, byteSize(i.Bytes))
	}
	if i.Conns*10 > i.MaxConns*8 {
		d.warn("connections", "raise max_connections, or run fewer workers", "%d of %d are in use", i.Conns, i.MaxConns)
	}
	switch {
	case i.Applied > i.Known:
		d.fail("migrations", "use the programs of one release", fmt.Errorf("the database is at %d, this program knows %d: it is too old", i.Applied, i.Known))
	case i.Applied < i.Known:
		d.warn("migrations", "run starter migrate; a worker that starts applies them, too", "at %d of %d", i.Applied, i.Known)
	default:
		d.ok("migrations", "all %d are applied", i.Applied)
	}
	d.clock("clock of the database", i.Skew)
	if i.Applied == i.Known {
		d.parts(ctx)
	}
}

func (d *doctor) clock(name string, skew time.Duration) {
	text := fmt.Sprintf("%s apart from this machine's", skew.Round(time.Millisecond).Abs())
	switch do := "set both clocks by NTP"; {
	case skew.Abs() > clockFail:
		d.fail(name, do, errors.New(text))
	case skew.Abs() > clockWarn:
		d.warn(name, do, "%s", text)
	default:
		d.ok(name, "%s", text)
	}
}

// parts opens what a worker opens, which checks the settings of every part.
func (d *doctor) parts(ctx context.Context) {
	a, err := app.Open(ctx, d.cfg, app.Options{})
	if d.fail("parts", "correct the setting named", err) {
		return
	}
	defer a.Close()
	d.notOurs = a.Repo.There(ctx)
	d.ok("parts", "a worker of these settings can start")
}

func (d *doctor) temporal(ctx context.Context) {
	if d.cfg.Servers.Temporal == "" {
		d.fail("temporal", "start `starter dev`, or set TEMPORAL_ADDRESS", errors.New("none is configured"))
		return
	}
	c, err := pool.Dial(ctx, d.cfg, slog.New(slog.DiscardHandler))
	if d.fail("temporal", "check TEMPORAL_ADDRESS and that the server runs", err) {
		return
	}
	defer c.Close()
	ns := d.cfg.Servers.Namespace
	n, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: ns})
	if err != nil {
		d.fail("temporal", "create the namespace, or set TEMPORAL_NAMESPACE", fmt.Errorf("namespace %s: %w", ns, err))
		return
	}
	d.ok("temporal", "%s, namespace %s, histories kept for %s", d.cfg.Servers.Temporal, ns, n.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration())
	d.searchAttributes(ctx, c, ns)
	var latest time.Time
	for _, q := range activities.Queues() {
		kinds := []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_ACTIVITY}
		if q == activities.QueueHarvest {
			kinds = append(kinds, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
		}
		for _, k := range kinds {
			if at := d.pollers(ctx, c, q, k); at.After(latest) {
				latest = at
			}
		}
	}
	// A poll that Temporal saw in our future tells that its clock is ahead; how
	// far it is behind cannot be told from a poll that is old.
	if ahead := time.Until(latest); ahead > clockWarn {
		d.clock("clock of Temporal", ahead)
	} else if !latest.IsZero() {
		d.ok("clock of Temporal", "it saw a worker %s ago", (-ahead).Round(time.Second))
	}
}

func (d *doctor) searchAttributes(ctx context.Context, c client.Client, ns string) {
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: ns})
	if err != nil {
		d.warn("search attributes", "see deploy/temporal/namespace.sh", "cannot be listed: %v", err)
		return
	}
	for name := range gleaner.SearchAttributes() {
		if _, ok := have.GetCustomAttributes()[name]; !ok {
			d.warn("search attributes", "a worker adds it when it starts; see deploy/temporal/namespace.sh", "%s is missing", name)
			return
		}
	}
	d.ok("search attributes", "all %d are there", len(gleaner.SearchAttributes()))
}

// pollers says who works on a queue, and returns when Temporal saw one last.
func (d *doctor) pollers(ctx context.Context, c client.Client, queue string, kind enumspb.TaskQueueType) time.Time {
	name := "queue " + queue
	if kind == enumspb.TASK_QUEUE_TYPE_WORKFLOW {
		name += " (workflows)"
	}
	r, err := c.DescribeTaskQueue(ctx, queue, kind)
	if d.fail(name, "check the Temporal server", err) {
		return time.Time{}
	}
	n, other, latest := asking(r)
	if n == 0 {
		do, found := "start a worker: worker --queues "+queue, "nobody works on it"
		if other != "" {
			found += ": the version of its workers, " + other + ", is not the current one"
		}
		if id := cmp.Or(other, d.cfg.Process.BuildID); id != "" {
			do += "; where one runs: temporal worker deployment set-current-version --deployment-name gleaner --build-id " + id + " --yes"
		}
		d.warn(name, do, "%s", found)
	} else {
		d.ok(name, "%s asked for work in the last %s", text.Count(n, "worker"), pollTime)
	}
	return latest
}

// probeSize is that of a file that doctor writes, in bytes: a store without room for it
// has none for many a paper.
const probeSize = 4 << 20

// blobs writes, reads and removes a file.
func (d *doctor) blobs(ctx context.Context) {
	repo, err := app.OpenRepository(ctx, d.cfg)
	if d.fail("blob store", "check GLEANER_REPOSITORY_URL", err) {
		return
	}
	defer repo.Close()
	if d.fail("blob store", "mount its folder, or check GLEANER_REPOSITORY_URL", d.notOurs) {
		return
	}
	probe := make([]byte, probeSize)
	_, _ = rand.Read(probe) // bytes that no file system can pack
	digest, err := repo.Put(ctx, probe)
	if d.fail("blob store", "it must be writable, with room left", err) {
		return
	}
	defer func() {
		if err := repo.Delete(context.WithoutCancel(ctx), digest.SHA256); err != nil {
			d.warn("blob store", "allow deletion", "the probe cannot be removed: %v", err)
		}
	}()
	got, err := repo.Get(ctx, digest.SHA256)
	if d.fail("blob store", "it must be readable", err) {
		return
	}
	defer got.Close()
	if body, err := io.ReadAll(got); err != nil || !bytes.Equal(body, probe) {
		d.fail("blob store", "check the disk or the bucket", fmt.Errorf("what was written did not come back: %v", err))
		return
	}
	d.ok("blob store", "%s: written, read, removed", repo.URL())
}
