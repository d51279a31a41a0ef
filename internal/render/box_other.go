//go:build !linux

package render

import (
	"context"
	"errors"
	"os"
	"time"
)

type process struct{ in, out *os.File }

func start(context.Context, limits, ...string) (*process, error) {
	return nil, errors.New("a browser can be shut in on Linux alone")
}

func (p *process) used() (time.Duration, int64) { return 0, 0 }

func (p *process) end() {}

func (p *process) complaint() string { return "" }
