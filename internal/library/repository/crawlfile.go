package repository

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzip"

	"gleaner/internal/fetch"
)

// openSuffix is the suffix of a file that is being written, or whose writer died.
const openSuffix = ".open"

// CrawlFile is a WARC file of a crawl's exchanges with a host. While it is written it is in a
// local folder, warc/HOST below the store's own, or for a bucket below the system's temporary
// folder, and its writer holds its lock. The stored part is always valid up to its last exchange.
// It is not safe for concurrent use.
type CrawlFile struct {
	repo *Repository
	key  string // in the store
	path string
	file *os.File
	warc *WARC

	// Aside lists unreadable files of dead crawls on this machine, which stay in place with the
	// suffix ".unreadable".
	Aside []string
}

// CrawlFile creates a file, after it has stored the files of dead crawls on this machine. more
// holds lines "name: value" about the file. An error lists the files set aside before, since no
// other call does.
func (r *Repository) CrawlFile(ctx context.Context, host, software string, more ...string) (_ *CrawlFile, err error) {
	if err := r.first(ctx); err != nil {
		return nil, err
	}
	dir, err := r.crawlFolder(ctx, host)
	if err != nil {
		return nil, err
	}
	aside, err := r.sweep(ctx, dir)
	defer func() {
		if err != nil && len(aside) > 0 {
			err = fmt.Errorf("%w; set aside before that, since they cannot be read: %s", err, strings.Join(aside, ", "))
		}
	}()
	if err != nil {
		return nil, err
	}
	name := plainName(host) + "-" + time.Now().UTC().Format("20060102T150405Z") + "-" + strings.ToLower(rand.Text()[:8]) + ".warc.gz"
	c := &CrawlFile{repo: r, key: crawlKey(host, name), path: filepath.Join(dir, name+openSuffix), Aside: aside}
	if c.file, err = locked(c.path, r.lock); err != nil {
		return nil, r.noted(typed(err), 0)
	}
	if c.warc, err = NewWARC(c.file, name, software, more...); err != nil {
		_ = c.file.Close()
		_ = os.Remove(c.path)
		return nil, r.noted(err, 0)
	}
	return c, nil
}

// crawlKey returns the key of a file in the store.
func crawlKey(host, name string) string { return "warc/" + plainName(host) + "/" + name }

// plainName returns a host as the name of a folder.
func plainName(host string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, strings.ToLower(host))
}

// crawlFolder returns the local folder for files of a host.
func (r *Repository) crawlFolder(ctx context.Context, host string) (string, error) {
	dir := filepath.Join(os.TempDir(), "gleaner-warc")
	if r.folder != nil {
		dir = filepath.Join(r.folder.root, "warc")
	} else if r.owner != nil {
		id, err := r.ownerID(ctx)
		if err != nil {
			return "", err
		}
		dir = filepath.Join(dir, plainName(id))
	}
	dir = filepath.Join(dir, plainName(host))
	return dir, typed(os.MkdirAll(dir, 0o700))
}

// locked creates a file that gets its name only after it is locked.
func locked(path string, lock func(*os.File) error) (*os.File, error) {
	making := strings.TrimSuffix(path, openSuffix) + ".new"
	f, err := os.OpenFile(making, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	_ = lock(f) // where there are no locks, takeOver goes by the time of the last write
	if err = os.Rename(making, path); err != nil {
		_ = f.Close()
		_ = os.Remove(making)
		return nil, err
	}
	return f, nil
}

// sweep puts away the files whose writer died: those in a folder of a host. Where they
// wait for a bucket it is those of all hosts, of which none else may be crawled from
// this machine again.
func (r *Repository) sweep(ctx context.Context, dir string) (aside []string, err error) {
	pattern := filepath.Join(dir, "*"+openSuffix)
	if r.folder == nil {
		pattern = filepath.Join(filepath.Dir(dir), "*", "*"+openSuffix)
	}
	left, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	for _, path := range left {
		err := r.takeOver(ctx, path)
		if errors.Is(err, errUnreadable) {
			moved := strings.TrimSuffix(path, openSuffix) + ".unreadable"
			if err = os.Rename(path, moved); err == nil {
				aside = append(aside, moved)
			} else if errors.Is(err, os.ErrNotExist) {
				err = nil // another has done it
			}
		}
		if err != nil {
			return aside, err
		}
	}
	return aside, nil
}

// errUnreadable is a file that a crawl left and nobody can put away.
var errUnreadable = errors.New("cannot be read")

func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// silentFor is the time since the last write after which a writer counts as dead, on file systems
// without locks. A slice of a crawl takes minutes.
const silentFor = 6 * time.Hour

// takeOver stores a file whose writer died. A live writer holds its lock.
func (r *Repository) takeOver(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil // another has done it
	}
	if err != nil {
		return unreadable(err)
	}
	defer func() { _ = f.Close() }()
	if err := r.lock(f); errors.Is(err, syscall.EWOULDBLOCK) {
		return nil
	} else if err != nil {
		if info, err := f.Stat(); err != nil || time.Since(info.ModTime()) < silentFor {
			return nil
		}
	}
	whole, err := wholeMembers(f)
	if err != nil {
		return unreadable(err)
	}
	if whole == 0 {
		return remove(path)
	}
	if err := f.Truncate(whole); err != nil {
		return unreadable(err)
	}
	return r.putAway(ctx, path, crawlKey(filepath.Base(filepath.Dir(path)), strings.TrimSuffix(filepath.Base(path), openSuffix)))
}

// unreadable is an error of a file alone, unless it is the machine that has no room:
// for another file in this process, or on the disk.
func unreadable(err error) error {
	for _, room := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, room) {
			return typed(err)
		}
	}
	return errors.Join(errUnreadable, err)
}

// wholeMembers is how long the part of a file is that is gzip members from begin to
// end: each is a record.
func wholeMembers(f *os.File) (good int64, err error) {
	in := &counting{in: bufio.NewReaderSize(f, 64<<10)}
	var z gzip.Reader
	for {
		err := z.Reset(in)
		if err == nil {
			z.Multistream(false)
			_, err = io.Copy(io.Discard, &z) // #nosec G110 -- unpacked to nowhere
		}
		if in.err != nil && !errors.Is(in.err, io.EOF) {
			return 0, in.err // the file cannot be read, and may be whole
		}
		if err != nil {
			return good, nil
		}
		good = in.n
	}
}

// counting counts the bytes read from a file, and keeps its error.
type counting struct {
	in  *bufio.Reader
	n   int64
	err error
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n, c.err = c.n+int64(n), err
	return n, err
}

// ReadByte has gzip read no further than it must.
func (c *counting) ReadByte() (byte, error) {
	b, err := c.in.ReadByte()
	if c.err = err; err == nil {
		c.n++
	}
	return b, err
}

// putAway moves a finished file to its place in the store.
func (r *Repository) putAway(ctx context.Context, path, key string) error {
	if r.folder != nil {
		err := os.Rename(path, strings.TrimSuffix(path, openSuffix))
		if errors.Is(err, os.ErrNotExist) {
			return nil // another has done it
		}
		return typed(err)
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := r.write(ctx, file{key, withContext(ctx, f)}); err != nil {
		return err
	}
	return remove(path)
}

// remove removes a file, unless another has.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Write writes an exchange. Where it cannot be written whole nothing of it is.
func (c *CrawlFile) Write(e *fetch.Exchanged, from Origin) error {
	return c.whole(func() error { return c.warc.Exchange(e, from) })
}

// WriteItem writes an answer that was fetched before the crawl, of which no more is
// known than its header and its body, decoded.
func (c *CrawlFile) WriteItem(it Item, body []byte) error {
	return c.whole(func() error { return c.warc.Response(it, body) })
}

// whole does something with the file, or nothing.
func (c *CrawlFile) whole(write func() error) error {
	good, err := c.file.Seek(0, io.SeekCurrent)
	if err == nil {
		err = write()
	}
	if err == nil {
		return nil
	}
	if c.file.Truncate(good) == nil {
		_, _ = c.file.Seek(good, io.SeekStart)
	}
	return c.repo.noted(err, 0)
}

// Close ends the file, whose lock it holds until that has its place. What cannot be put
// away now is by the next of its host.
func (c *CrawlFile) Close(ctx context.Context) error {
	err := typed(c.file.Sync())
	if err == nil {
		err = c.repo.putAway(ctx, c.path, c.key)
	}
	if cerr := c.file.Close(); err == nil {
		err = typed(cerr)
	}
	return err
}
