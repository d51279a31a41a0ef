package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
	"gleaner/internal/service/jobfile"
	"gleaner/internal/service/program"
)

// printJobFile prints a job as a file.
func (c *cli) printJobFile(job store.Job) error {
	file, err := jobfile.Write(job)
	if err != nil {
		return err
	}
	return c.Print(map[string]string{"file": string(file)}, func(w io.Writer) error {
		_, err := w.Write(file)
		return err
	})
}

// newJobOf sets up the job that a file describes.
func (c *cli) newJobOf(ctx context.Context, db *store.DB, name string, confirm bool) (int64, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("%w: want %s, or a file that describes one; there is no %s", program.ErrUsage, aJob, name)
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	kind, options, err := jobfile.Read(file)
	if err == nil {
		options, err = jobHere(options, kind, confirm)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w", program.ErrUsage, name, err)
	}
	return db.AddJob(ctx, kind, options)
}

// jobHere makes paths of this machine what a worker in another folder finds, and has a
// cleaning that is confirmed remove what it lists.
func jobHere(options any, kind string, confirm bool) (any, error) {
	var err error
	switch o := options.(type) {
	case ingest.Options:
		if confirm {
			return nil, errors.New("--confirm is for cleanings")
		}
		if o.Paths, err = importPaths(o.Paths); err == nil {
			o.To, err = absolute(o.To)
		}
		return o, err
	case tables.Options:
		if confirm {
			err = o.Set(kind, "confirm", "yes")
		}
		if err == nil {
			o.To, err = absolute(o.To)
		}
		return o, err
	}
	return options, nil
}

// absolute is a folder as a worker in another one finds it; addresses stay.
func absolute(path string) (string, error) {
	if path == "" || strings.Contains(path, "://") {
		return path, nil
	}
	return filepath.Abs(path)
}
