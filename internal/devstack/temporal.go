package devstack

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

const temporalDB = "temporal.db"

func (s *Stack) startTemporal(ctx context.Context, o Options) error {
	if o.TemporalAddress != "" {
		s.TemporalAddress = o.TemporalAddress
		ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
		if err := o.Ready(ctx, o.TemporalAddress, o.Namespace, o.SearchAttributes); err != nil {
			return fmt.Errorf("cannot use the Temporal server given by TEMPORAL_ADDRESS (%s): %w", o.TemporalAddress, err)
		}
		return nil
	}
	binary, err := findTemporal(ctx, o)
	if err != nil {
		return err
	}
	o.Progress("starting Temporal")
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
		return o.Ready(ctx, s.TemporalAddress, o.Namespace, o.SearchAttributes)
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
		// Queues in one part: with four, a fifth more of a processor's time went into them.
		"--dynamic-config-value", "matching.numTaskqueueReadPartitions=1",
		"--dynamic-config-value", "matching.numTaskqueueWritePartitions=1",
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
	for _, name := range slices.Sorted(maps.Keys(o.SearchAttributes)) {
		args = append(args, "--search-attribute", name+"="+o.SearchAttributes[name])
	}
	return args
}
