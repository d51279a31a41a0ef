package repository

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gleaner/internal/fetch"
)

// openSuffix ends the name of a file that is still written to, or whose writer died.
const openSuffix = ".open"

// CrawlFile is a WARC file of what a crawl exchanges with a host. While it is written
// it lies in a folder of this machine, warc/HOST below the store's own or, where that
// is a bucket, below the system's for temporary files, and is whole up to its last
// exchange whatever happens. It is not safe for concurrent use.
type CrawlFile struct {
	repo *Repository
	key  string // in the store
	path string
	file *os.File
	warc *WARC
}

// CrawlFile begins a file, and first puts away what a crawl of the host that died
// left on this machine. The host must be the caller's alone. more is what the file
// says of itself, a line "name: value" each.
func (r *Repository) CrawlFile(ctx context.Context, host, software string, more ...string) (*CrawlFile, error) {
	if err := r.first(ctx); err != nil {
		return nil, err
	}
	dir, err := r.crawlFolder(ctx, host)
	if err != nil {
		return nil, err
	}
	if err := r.sweep(ctx, dir, host); err != nil {
		return nil, err
	}
	name := plainName(host) + "-" + time.Now().UTC().Format("20060102T150405Z") + "-" + strings.ToLower(rand.Text()[:8]) + ".warc.gz"
	c := &CrawlFile{repo: r, key: crawlKey(host, name), path: filepath.Join(dir, name+openSuffix)}
	if c.file, err = os.OpenFile(c.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return nil, r.noted(typed(err), 0)
	}
	if c.warc, err = NewWARC(c.file, name, software, more...); err != nil {
		_ = c.file.Close()
		_ = os.Remove(c.path)
		return nil, r.noted(err, 0)
	}
	return c, nil
}

// crawlKey is where the store has a file.
func crawlKey(host, name string) string { return "warc/" + plainName(host) + "/" + name }

// plainName is a host as the name of a folder.
func plainName(host string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, strings.ToLower(host))
}

// crawlFolder is where files of a host are written on this machine.
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

// sweep puts away the files whose writer died.
func (r *Repository) sweep(ctx context.Context, dir, host string) error {
	left, err := filepath.Glob(filepath.Join(dir, "*"+openSuffix))
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := r.putAway(ctx, path, crawlKey(host, strings.TrimSuffix(filepath.Base(path), openSuffix))); err != nil {
			return err
		}
	}
	return nil
}

// putAway gives a file that is written no more its place in the store.
func (r *Repository) putAway(ctx context.Context, path, key string) error {
	if r.folder != nil {
		err := os.Rename(path, strings.TrimSuffix(path, openSuffix))
		if errors.Is(err, os.ErrNotExist) {
			return nil // whoever has the host now has done it
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
	if err := r.write(ctx, key, f); err != nil {
		return err
	}
	return os.Remove(path)
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

// Close ends the file. What cannot be put away now is by the next of its host.
func (c *CrawlFile) Close(ctx context.Context) error {
	err := c.file.Sync()
	if cerr := c.file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return typed(err)
	}
	return c.repo.putAway(ctx, c.path, c.key)
}
