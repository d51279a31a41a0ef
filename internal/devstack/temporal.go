package devstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"path/filepath"
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

// GleanerSearchAttributes are those that Gleaner's workflows set: name → type.
// docker-compose.yml registers the same.
var GleanerSearchAttributes = map[string]string{
	"GleanerVenue": "Keyword",
	"GleanerHost":  "Keyword",
	"GleanerStage": "Keyword",
}

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
	port, uiPort, err := temporalPorts(o)
	if err != nil {
		return err
	}
	cmd := exec.Command(binary, serverArgs(o, port, uiPort)...)
	cmd.Dir = o.DataDir
	// SQLite recovers by itself, and a killed server is certainly gone.
	s.temporal, err = startChild("Temporal", cmd, filepath.Join(o.DataDir, "temporal.log"), syscall.SIGKILL)
	if err != nil {
		return err
	}
	s.TemporalAddress = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if !o.Headless {
		s.UIURL = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(uiPort))
	}
	return s.temporal.ready(ctx, func(ctx context.Context) error {
		return EnsureSearchAttributes(ctx, s.TemporalAddress, o.Namespace, o.SearchAttributes)
	})
}

// temporalPorts prefers those of the last run, so that a bookmark of the UI
// stays good, then the documented ones if asked for.
func temporalPorts(o Options) (port, ui int, err error) {
	if o.StandardPorts {
		port, ui = 7233, 8233
	}
	if port, err = freePort(port); err != nil {
		return 0, 0, err
	}
	ui, err = freePort(ui)
	return port, ui, err
}

func serverArgs(o Options, port, uiPort int) []string {
	args := []string{
		"server", "start-dev",
		"--ip", "127.0.0.1", "--port", strconv.Itoa(port),
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
	if o.Headless {
		args = append(args, "--headless")
	} else {
		args = append(args, "--ui-port", strconv.Itoa(uiPort))
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
