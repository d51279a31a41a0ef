package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gleaner/internal/service/program"
)

// readBounded reads a file that the user names.
func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file) // #nosec G304 -- the user names it
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, largestFile+1))
	if err == nil && len(raw) > largestFile {
		err = fmt.Errorf("%s: has more than %d bytes", file, largestFile)
	}
	return raw, err
}

// readLines reads the lines of a file that are neither empty nor begin with #.
func readLines(file string) ([]string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	var out []string
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out, nil
}

// writeNew writes a file that is not there yet, and its folder.
func writeNew(name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %s is there already; name another file, or take it away", program.ErrUsage, name)
	}
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// absolute is a folder as a worker in another one finds it; addresses stay.
func absolute(path string) (string, error) {
	if path == "" || strings.Contains(path, "://") {
		return path, nil
	}
	return filepath.Abs(path)
}

// toOut writes a list to the file of --out, or to the standard output.
func (c *cli) toOut(out string, write func(io.Writer) error) error {
	if out == "" || out == "-" {
		return write(unixLines{c.Out})
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return program.WriteFile(out, write)
}

// unixLines ends lines as terminals and pipes do; a RIS file has the ends of another age.
type unixLines struct{ to io.Writer }

func (l unixLines) Write(p []byte) (int, error) {
	_, err := l.to.Write(bytes.ReplaceAll(p, []byte("\r"), nil))
	return len(p), err
}

func jsonLines[T any](w io.Writer, all []T) error {
	enc := json.NewEncoder(w)
	for _, one := range all {
		if err := enc.Encode(one); err != nil {
			return err
		}
	}
	return nil
}
