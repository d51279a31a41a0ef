//go:build !linux

package devstack

import "syscall"

// setDeathSignal does nothing: only Linux knows parent-death signals. What a
// killed process leaves running is stopped by the next Start (stopLeftovers).
func setDeathSignal(*syscall.SysProcAttr, syscall.Signal) {}
