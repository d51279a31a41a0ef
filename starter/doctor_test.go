package main

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/deployment/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	temporallog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/devtest/temporaltest"
)

// visit runs the doctor, and returns what it found by check.
func visit(t *testing.T, args ...string) (map[string]finding, error) {
	var out, errs strings.Builder
	root := newRoot(&out, &errs)
	root.SetArgs(append([]string{"doctor", "--json", "--data-dir", t.TempDir()}, args...))
	err := root.ExecuteContext(t.Context())
	var found []finding
	require.NoError(t, json.Unmarshal([]byte(out.String()), &found), out.String())
	by := map[string]finding{}
	for _, f := range found {
		by[f.Check] = f
	}
	return by, err
}

func TestDoctorFindsNothingAmiss(t *testing.T) {
	t.Parallel()
	address, namespace := temporaltest.Temporal(t)
	server, err := client.Dial(client.Options{HostPort: address, Namespace: namespace, Logger: temporallog.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	require.NoError(t, err)
	defer server.Close()
	old := worker.WorkerDeploymentVersion{DeploymentName: "gleaner", BuildID: "2026.1"}
	w := worker.New(server, activities.QueueJobs,
		worker.Options{DeploymentOptions: worker.DeploymentOptions{UseVersioning: true, Version: old}})
	w.RegisterActivityWithOptions(func() error { return nil }, activity.RegisterOptions{Name: "none"})
	require.NoError(t, w.Start())
	defer w.Stop()
	require.Eventually(t, func() bool {
		r, err := server.DescribeTaskQueue(t.Context(), activities.QueueJobs, enumspb.TASK_QUEUE_TYPE_ACTIVITY)
		return err == nil && len(r.GetPollers()) > 0
	}, time.Minute, 20*time.Millisecond)
	policy := secretFile(t, "pace:\n  factor: 6\n")
	found, err := visit(t, "--policy", policy, "--database-url-file", secretFile(t, devtest.EmptyPostgres(t)), "--temporal-address", address, "--temporal-namespace", namespace, "--contact", "me@example.org", "--build-id", "2026.2")
	require.NoError(t, err, found)
	require.Equal(t, levelWarn, found["migrations"].Level, "an empty database has none, and the doctor applies none")
	require.Equal(t, levelWarn, found["queue crawl"].Level)
	require.Contains(t, found["queue crawl"].Do, "worker --queues crawl")
	require.Contains(t, found["queue jobs"].Found, "2026.1, is not the current one")
	require.Contains(t, found["queue jobs"].Do, "set-current-version --deployment-name gleaner --build-id 2026.1")
	require.Contains(t, found["queue crawl"].Do, "set-current-version --deployment-name gleaner --build-id 2026.2")
	for _, check := range []string{"settings", "identity", "database", "clock of the database", "temporal", "search attributes", "blob store"} {
		require.Equal(t, levelOK, found[check].Level, "%s: %s", check, found[check].Found)
	}
	require.Contains(t, found["settings"].Found, "7 of ", "the policy's own are no settings")
	require.Contains(t, found["identity"].Found, "+me@example.org")
	require.Contains(t, found["network"].Found, "not asked")
}

// TestDoctorAsksForTheRecordsOwnStore: a file can be written to another's, too.
func TestDoctorAsksForTheRecordsOwnStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "record"), []byte("another\n"), 0o600))
	found, err := visit(t, "--database-url-file", secretFile(t, devtest.Postgres(t)), "--repository-url", "file://"+dir)
	require.Error(t, err)
	require.Equal(t, levelFail, found["blob store"].Level)
	require.Contains(t, found["blob store"].Found, "another record's")
}

// TestDoctorCountsWorkersThatAsk: Temporal remembers the others for minutes.
func TestDoctorCountsWorkersThatAsk(t *testing.T) {
	t.Parallel()
	at := func(ago time.Duration) *taskqueue.PollerInfo {
		return &taskqueue.PollerInfo{LastAccessTime: timestamppb.New(time.Now().Add(-ago))}
	}
	built := at(time.Second)
	built.DeploymentOptions = &deployment.WorkerDeploymentOptions{BuildId: "2", WorkerVersioningMode: enumspb.WORKER_VERSIONING_MODE_VERSIONED}
	queue := &workflowservice.DescribeTaskQueueResponse{Pollers: []*taskqueue.PollerInfo{at(time.Second), at(2 * time.Minute), at(time.Minute), built}}
	n, other, latest := asking(queue)
	require.Equal(t, []any{2, "2"}, []any{n, other})
	for current, want := range map[string]int{"1": 0, "2": 1} {
		queue.VersioningInfo = &taskqueue.TaskQueueVersioningInfo{CurrentDeploymentVersion: &deployment.WorkerDeploymentVersion{BuildId: current}}
		n, _, _ = asking(queue)
		require.Equal(t, want, n, current)
	}
	require.WithinDuration(t, time.Now(), latest, 30*time.Second)
}

// Without poppler a worker reads all the same, and less.
func TestDoctorWarnsWithoutPoppler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	found, _ := visit(t)
	require.Equal(t, levelWarn, found["pdftotext"].Level)
	require.Contains(t, found["pdftotext"].Do, "poppler-utils")
	require.Contains(t, found["pdftotext"].Found, "built-in reader")
}

func TestDoctorSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args         []string
		check, level string
		do           string
	}{
		"no database":        {nil, "database", levelFail, "GLEANER_DATABASE_URL"},
		"no Temporal":        {nil, "temporal", levelFail, "start `starter dev`, or set TEMPORAL_ADDRESS"},
		"no contact":         {nil, "identity", levelWarn, "GLEANER_CONTACT"},
		"wrong contact":      {[]string{"--contact", "nobody in particular"}, "identity", levelFail, "correct"},
		"proxy":              {[]string{"--proxy-file", secretFile(t, "http://127.0.0.1:1")}, "proxy", levelWarn, "metadata services"},
		"wrong pace":         {[]string{"--pace-by", "moon"}, "settings", levelFail, "correct"},
		"wrong duration":     {[]string{"--delay", "soon"}, "settings", levelFail, "starter config"},
		"database away":      {[]string{"--database-url-file", secretFile(t, "postgres://x@127.0.0.1:1/y?connect_timeout=1")}, "database", levelFail, "the server runs"},
		"temporal away":      {[]string{"--temporal-address", "127.0.0.1:1"}, "temporal", levelFail, "TEMPORAL_ADDRESS"},
		"no dump":            {[]string{"--dblp-dump", "/none.xml.gz"}, "dblp dump", levelFail, "GLEANER_DBLP_DUMP"},
		"blobs not writable": {[]string{"--repository-url", "file:///proc/none"}, "blob store", levelFail, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := visit(t, c.args...)
			require.Error(t, err, "the exit code tells a script")
			require.Equal(t, c.level, found[c.check].Level, "%+v", found)
			require.Contains(t, found[c.check].Do, c.do)
		})
	}
}
