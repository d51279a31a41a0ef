package document

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// job is the reading of one file by outside programs, in a folder of its own. All
// of them together get its processor time, so that how busy the machine is makes
// no difference to what is read.
type job struct {
	r       *Reader
	dir     string
	file    string        // the file itself
	cpu     time.Duration // left
	session *session      // where they run; nil before the first, and after one that ended it
}

// newJob writes the file where programs can read it. remove takes all of it away.
func (r *Reader) newJob(body []byte, name string, cpu time.Duration) (j *job, remove func(), err error) {
	dir, err := os.MkdirTemp(r.opt.TempDir, "gleaner-*")
	if err != nil {
		return nil, nil, fmt.Errorf("temporary folder: %w", err)
	}
	j = &job{r: r, dir: dir, file: filepath.Join(dir, name), cpu: cpu}
	remove = func() {
		j.leave()
		removeAll(dir)
	}
	err = os.WriteFile(j.file, body, 0o600)
	for _, path := range []string{j.file, dir} {
		if err == nil {
			err = r.box.own(path)
		}
	}
	if err != nil {
		remove()
		return nil, nil, fmt.Errorf("temporary file: %w", err)
	}
	return j, remove, nil
}

// folder makes a new folder within the job's.
func (j *job) folder() (name string, err error) {
	path, err := os.MkdirTemp(j.dir, "")
	if err == nil {
		err = j.r.box.own(path)
	}
	if err != nil {
		return "", fmt.Errorf("temporary folder: %w", err)
	}
	return filepath.Base(path), nil
}

// written returns what a program wrote to a file in the job's folder. The program
// may have been broken into by its document, and the worker may read what it may
// not: no link leads out of the folder, and no pipe or device is waited for.
func (j *job) written(name string) ([]byte, error) {
	dir, err := os.OpenRoot(j.dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", name)
	}
	return io.ReadAll(io.LimitReader(f, maxTemporary))
}

// run runs a program with what is left of the processor time.
func (j *job) run(ctx context.Context, lim limits, env []string, argv ...string) (got *run, err error) {
	switch {
	case j.cpu <= 0:
		return &run{exit: -1, late: true}, nil
	case ctx.Err() != nil:
		return &run{exit: -1, stalled: true}, nil
	}
	if j.session != nil && j.session.lim != lim {
		j.leave()
	}
	if j.session == nil {
		j.session, err = j.r.box.open(ctx, lim, j.cpu, j.dir)
	}
	if err != nil {
		return nil, err
	}
	if got, err = j.session.run(ctx, j.cpu, env, argv...); err == nil {
		j.cpu -= got.used
	}
	if !j.session.lasts {
		j.leave()
	}
	return got, err
}

// leave ends the session, if there is one.
func (j *job) leave() {
	if j.session != nil {
		j.session.close()
		j.session = nil
	}
}

// maxTemporary bounds each file that a program writes for itself, in bytes.
const maxTemporary = 64 << 20

// plain are the limits of a program that reads text.
func (r *Reader) plain() limits {
	return limits{memory: r.opt.Memory, file: maxTemporary, folder: r.opt.Folder}
}

// Isolation says how far the programs that read files are shut in, in words for a
// person.
type Isolation struct {
	Has   []string
	Lacks []string
}

// What weighs most of it.
const (
	NoNetwork = "no network"
	NoFiles   = "no files but its document's"
	NotAsRoot = "not as root"
)

// Isolation tells what this system allowed.
func (r *Reader) Isolation() Isolation {
	i := r.box.isolation()
	i.Has = slices.Concat([]string{"bare environment"}, i.Has)
	i.Has = append(i.Has, "limits on memory, processor time and files")
	return i
}
