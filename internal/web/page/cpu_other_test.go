//go:build !unix

package page_test

import (
	"testing"
	"time"
)

// cpuTime is the clock where no better is to be had.
func cpuTime(testing.TB) time.Duration { return time.Duration(time.Now().UnixNano()) }
