package devstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
)

const temporalDB = "temporal.db"

func (s *Stack) startTemporal(ctx context.Context, o Options) error {
	if o.TemporalAddress != "" {
		s.TemporalAddress = o.TemporalAddress
		ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
		if err := EnsureSearchAttributes(ctx, o.TemporalAddress, o.Namespace, o.SearchAttributes); err != nil {
			return fmt.Errorf("cannot use the Temporal server given by TEMPORAL_ADDRESS (%s): %w", o.TemporalAddress, err)
		}
		return nil
	}
	binary, err := findTemporal(ctx, o)
	if err != nil {
		return err
	}
	o.Progress("starting Temporal")
	o.Log.Debug("temporal binary", "path", binary)
	p, err := choosePorts(o)
	if err != nil {
		return err
	}
	// Its files are its user's alone, also in a folder that others may enter.
	cmd := exec.Command("/bin/sh", append([]string{"-c", `umask 077; exec "$0" "$@"`, binary}, serverArgs(o, p)...)...)
	cmd.Dir = o.DataDir
	// SQLite recovers by itself, and a killed server is certainly gone.
	s.temporal, err = startChild("Temporal", cmd, filepath.Join(o.DataDir, "temporal.log"), syscall.SIGKILL)
	if err != nil {
		return err
	}
	s.TemporalAddress = net.JoinHostPort("127.0.0.1", strconv.Itoa(p.Frontend))
	if !o.Headless {
		s.UIURL = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(p.UI))
	}
	return s.temporal.ready(ctx, func(ctx context.Context) error {
		return EnsureSearchAttributes(ctx, s.TemporalAddress, o.Namespace, o.SearchAttributes)
	})
}

// ports are remembered, so that a bookmark of the web UI stays good.
type ports struct {
	Frontend int `json:"frontend"`
	UI       int `json:"ui"`
}

const portsFile = "temporal.json"

// choosePorts takes those that are asked for; else it prefers those of the last run, then the documented ones if asked
// for, then any that are free.
func choosePorts(o Options) (ports, error) {
	var p ports
	if o.StandardPorts {
		p = ports{Frontend: 7233, UI: 8233}
	}
	name := filepath.Join(o.DataDir, portsFile)
	if raw, err := os.ReadFile(name); err == nil {
		_ = json.Unmarshal(raw, &p) // damaged: other ports do as well
	}
	var err error
	if p.Frontend, err = choosePort(o.Ports.Temporal, p.Frontend); err != nil {
		return p, err
	}
	if p.UI, err = choosePort(o.Ports.UI, p.UI); err != nil {
		return p, err
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return p, err
	}
	return p, writeFileAtomic(name, raw)
}

// closedPorts are those that no browser connects to (the Fetch standard's "bad ports") and
// anybody may listen on.
var closedPorts = []int{6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 5061, 5060, 4190, 4045, 3659, 2049}

// httpPort is where Temporal's HTTP API listens. It cannot be turned off, asks for no
// token, and answers to every web page; so it goes where no page leads. Where none of
// those ports is free, it is any: 0.
func httpPort() int {
	for _, port := range closedPorts {
		if free, err := freePort(port); err == nil && free == port {
			return port
		}
	}
	return 0
}

func serverArgs(o Options, p ports) []string {
	args := []string{
		"server", "start-dev",
		"--ip", "127.0.0.1", "--port", strconv.Itoa(p.Frontend),
		"--db-filename", filepath.Join(o.DataDir, temporalDB),
		"--namespace", o.Namespace,
		"--log-level", "warn", "--log-format", "json",
		"--disable-config-file", "--disable-config-env",
		// Many short activities in one process: the defaults are for a tenant
		// among many and throttle a crawl.
		"--dynamic-config-value", "frontend.namespaceRPS=20000",
		"--dynamic-config-value", "frontend.namespaceCount=20000",
		"--dynamic-config-value", "frontend.enableServerVersionCheck=false",
		"--dynamic-config-value", "frontend.enableUpdateWorkflowExecution=true",
		"--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL",
	}
	if o.StandardPorts { // servers of tests, of which many start at once, take any
		args = append(args, "--http-port", strconv.Itoa(httpPort()))
	}
	if o.Headless {
		args = append(args, "--headless")
	} else {
		args = append(args, "--ui-port", strconv.Itoa(p.UI))
	}
	for _, key := range slices.Sorted(maps.Keys(o.DynamicConfig)) {
		args = append(args, "--dynamic-config-value", key+"="+o.DynamicConfig[key])
	}
	names := make([]string, 0, len(o.SearchAttributes))
	for name := range o.SearchAttributes {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		args = append(args, "--search-attribute", name+"="+o.SearchAttributes[name])
	}
	return args
}

// OpenWorkflows are the ids of what has not ended in a namespace, at most a
// thousand.
func OpenWorkflows(ctx context.Context, address, namespace string) ([]string, error) {
	c, err := client.DialContext(ctx, client.Options{HostPort: address, Namespace: namespace, Logger: quiet()})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	list, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: "ExecutionStatus = 'Running'", PageSize: 1000})
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range list.Executions {
		ids = append(ids, e.Execution.WorkflowId)
	}
	return ids, nil
}

// StartWorkflows starts workflows of a type, by their ids, each with its argument.
func StartWorkflows(ctx context.Context, address, namespace, queue, kind string, args map[string]any) error {
	c, err := client.DialContext(ctx, client.Options{HostPort: address, Namespace: namespace, Logger: quiet()})
	if err != nil {
		return err
	}
	defer c.Close()
	for id, arg := range args {
		if _, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: queue}, kind, arg); err != nil {
			return err
		}
	}
	return nil
}

// Histories returns how many workflows are open in a namespace, how many runs have ended,
// and the events of those.
func Histories(ctx context.Context, address, namespace string) (open, ended int, events int64, err error) {
	c, err := client.DialContext(ctx, client.Options{HostPort: address, Namespace: namespace, Logger: quiet()})
	if err != nil {
		return 0, 0, 0, err
	}
	defer c.Close()
	for r := (&workflowservice.ListWorkflowExecutionsRequest{PageSize: 1000}); ; {
		list, err := c.ListWorkflow(ctx, r)
		if err != nil {
			return open, ended, events, err
		}
		for _, e := range list.Executions {
			if e.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
				open++
				continue
			}
			ended, events = ended+1, events+e.HistoryLength
		}
		if r.NextPageToken = list.NextPageToken; len(r.NextPageToken) == 0 {
			return open, ended, events, nil
		}
	}
}

// EnsureSearchAttributes adds those of want (name → type) that the namespace
// lacks. It fails while the server or the namespace is not there.
func EnsureSearchAttributes(ctx context.Context, address, namespace string, want map[string]string) error {
	c, err := client.DialContext(ctx, client.Options{HostPort: address, Namespace: namespace, Logger: quiet()})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	if err != nil {
		return err
	}
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return err
	}
	missing := map[string]enumspb.IndexedValueType{}
	for name, kind := range want {
		if _, ok := have.GetCustomAttributes()[name]; ok {
			continue
		}
		t, err := enumspb.IndexedValueTypeFromString(kind)
		if err != nil {
			return fmt.Errorf("search attribute %s: %w", name, err)
		}
		missing[name] = t
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	var exists *serviceerror.AlreadyExists
	if errors.As(err, &exists) || (err != nil && strings.Contains(err.Error(), "already exist")) {
		return nil // another process was quicker
	}
	return err
}

func quiet() sdklog.Logger {
	return sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
}
