package devstack

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopLeftovers ends the servers of a process that died without stopping them.
// The folder's lock is held, so any server on this folder's data is one. On
// Linux there is at most a Postgres that is still writing its checkpoint.
func stopLeftovers(ctx context.Context, o Options) {
	if info, ok := readInfo(o.DataDir); ok {
		endProcess(ctx, info.TemporalPID, filepath.Join(o.DataDir, temporalDB), syscall.SIGTERM)
		removeInfo(o.DataDir)
	}
	cluster := filepath.Join(o.DataDir, clusterDir)
	pidFile := filepath.Join(cluster, "postmaster.pid")
	raw, err := os.ReadFile(pidFile)
	if err != nil {
		return
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || !endProcess(ctx, pid, cluster, syscall.SIGINT) {
		// Nobody of ours: the number was given to another process since, which
		// Postgres itself could take for a rival.
		_ = os.Remove(pidFile)
	}
}

// endProcess stops a process that has mark in its command line or as its
// working directory, and returns when it is gone. False: there is none such.
func endProcess(ctx context.Context, pid int, mark string, sig syscall.Signal) bool {
	if pid <= 1 || !isProcessOf(pid, mark) {
		return false
	}
	_ = syscall.Kill(pid, sig)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for isProcessOf(pid, mark) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return true
		case <-deadline:
			_ = syscall.Kill(pid, syscall.SIGKILL)
			deadline = nil
		}
	}
	return true
}

func isProcessOf(pid int, mark string) bool {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	if cwd, err := os.Readlink(filepath.Join(proc, "cwd")); err == nil && cwd == mark {
		return true
	}
	if raw, err := os.ReadFile(filepath.Join(proc, "cmdline")); err == nil {
		return strings.Contains(string(raw), mark)
	}
	if _, err := os.Stat("/proc/self"); err == nil {
		return false
	}
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out), mark)
}
