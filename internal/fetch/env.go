package fetch

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// envReader reads settings from the environment and keeps the first error.
type envReader struct {
	getenv func(string) string
	err    error
}

func (e *envReader) note(name string, err error) {
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("%s: %w", name, err)
	}
}

func (e *envReader) duration(name string) time.Duration {
	return read(e, name, func(v string) (time.Duration, error) {
		d, err := time.ParseDuration(v)
		if err == nil && d <= 0 {
			err = fmt.Errorf("%q is no positive duration", v)
		}
		return d, err
	})
}

func (e *envReader) size(name string) int64 {
	return read(e, name, func(v string) (int64, error) {
		n, err := strconv.ParseInt(v, 10, 64)
		if err == nil && n <= 0 {
			err = fmt.Errorf("%q is no positive number", v)
		}
		return n, err
	})
}

func (e *envReader) float(name string) float64 {
	return read(e, name, func(v string) (float64, error) {
		f, err := strconv.ParseFloat(v, 64)
		if err == nil && !(f >= 0) {
			err = fmt.Errorf("%q is negative", v)
		}
		return f, err
	})
}

func (e *envReader) bool(name string) bool { return read(e, name, strconv.ParseBool) }

// list splits a value at commas and blanks.
func (e *envReader) list(name string) []string {
	return strings.FieldsFunc(e.getenv(name), func(r rune) bool { return r == ',' || r == ' ' })
}

// read parses a variable; one that is not set has the zero value.
func read[T any](e *envReader, name string, parse func(string) (T, error)) T {
	var zero T
	v := strings.TrimSpace(e.getenv(name))
	if v == "" {
		return zero
	}
	t, err := parse(v)
	if err != nil {
		e.note(name, err)
		return zero
	}
	return t
}
