package repository

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"gleaner/internal/fetch"
)

// Keeping writes the exchanges of a slice of a crawl into a new WARC file, created at the first
// one. nil writes nothing. It is not safe for concurrent use.
type Keeping struct {
	repo         *Repository
	folder, says string
	tape         *fetch.Tape
	file         *CrawlFile
	log          *slog.Logger
}

// Keeping makes one. folder is that of the file below warc, such as the host, and says what
// is crawled.
func (r *Repository) Keeping(folder, says string, log *slog.Logger) *Keeping {
	return &Keeping{repo: r, folder: folder, says: says, tape: fetch.NewTape(""), log: log}
}

// Tape returns the tape that records requests, or nil if nothing is stored.
func (k *Keeping) Tape() *fetch.Tape {
	if k == nil {
		return nil
	}
	return k.tape
}

// Write writes what was exchanged since the last time for a URL, which a page led to so
// many links from a seed; "" is no URL, as of robots.txt.
func (k *Keeping) Write(ctx context.Context, url, parent string, depth int) error {
	if k == nil {
		return nil
	}
	var failed error
	for _, x := range k.tape.Take() {
		if failed == nil {
			failed = k.one(ctx, x, originOf(x, url, parent, depth))
		}
		x.Close()
	}
	return failed
}

func (k *Keeping) one(ctx context.Context, x *fetch.Exchanged, from Origin) error {
	if x.Err != nil {
		return fmt.Errorf("crawl %s: keep what came: %w", x.URL, x.Err)
	}
	if err := k.open(ctx, x.Request); err != nil {
		return err
	}
	return k.file.Write(x, from)
}

// originOf returns where the address of an exchange was found.
func originOf(x *fetch.Exchanged, url, parent string, depth int) Origin {
	from := Origin{Via: x.Via, Depth: -1}
	if url == "" {
		return from
	}
	if x.URL == url {
		from.Via = parent
	}
	if x.Via != "" || x.URL == url {
		from.Depth = depth
	}
	return from
}

// open begins the file, also when the worker stops. request is the head of a request.
func (k *Keeping) open(ctx context.Context, request string) (err error) {
	if k.file != nil {
		return nil
	}
	said := []string{"description: " + k.says, "robots: obey"}
	for line := range strings.Lines(request) {
		if name, value, _ := strings.Cut(line, ": "); http.CanonicalHeaderKey(name) == "User-Agent" {
			said = append(said, "http-header-user-agent: "+strings.TrimSpace(value))
		}
	}
	if k.file, err = k.repo.CrawlFile(context.WithoutCancel(ctx), k.folder, "Gleaner", said...); err != nil {
		return err
	}
	for _, path := range k.file.Aside {
		k.log.ErrorContext(ctx, "a crawl file that a worker left behind cannot be read; it is set aside", "file", path)
	}
	return nil
}

// Cached writes an answer that was fetched before the crawl.
func (k *Keeping) Cached(ctx context.Context, r *fetch.Response) error {
	if k == nil {
		return nil
	}
	if err := k.open(ctx, ""); err != nil {
		return err
	}
	return k.file.WriteItem(Item{URL: r.URL, Status: r.Status, Header: r.Header, FetchedAt: r.FetchedAt, MediaType: r.Header.Get("Content-Type")}, r.Body)
}

// Close puts the file away, which may take a minute; where it cannot, the next slice does.
func (k *Keeping) Close(ctx context.Context) {
	if k == nil {
		return
	}
	for _, x := range k.tape.Take() {
		x.Close()
	}
	if k.file == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := k.file.Close(ctx); err != nil {
		k.log.WarnContext(ctx, "the WARC file of the slice is not put away; the next slice does it", "of", k.says, "error", err)
	}
}
