package crawl

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/frontier"
)

// keeping writes what a slice exchanges with hosts into a WARC file of its own, from
// the first exchange on. nil writes nothing.
type keeping struct {
	repo  *repository.Repository
	host  string
	crawl int
	tape  *fetch.Tape
	file  *repository.CrawlFile
	log   *slog.Logger
}

func newKeeping(s *slice) *keeping {
	return &keeping{repo: s.coll.Repository(), host: s.site.Host, crawl: s.site.Crawl, tape: fetch.NewTape(""), log: s.log}
}

// write writes what was exchanged since the last time: over e, or over robots.txt
// where that is nil.
func (k *keeping) write(ctx context.Context, e *frontier.Entry) error {
	if k == nil {
		return nil
	}
	var failed error
	for _, x := range k.tape.Take() {
		if failed == nil {
			failed = k.one(ctx, x, e)
		}
		x.Close()
	}
	return failed
}

func (k *keeping) one(ctx context.Context, x *fetch.Exchanged, e *frontier.Entry) error {
	if x.Err != nil {
		return fmt.Errorf("crawl %s: keep what came: %w", x.URL, x.Err)
	}
	if err := k.open(ctx, x.Request); err != nil {
		return err
	}
	from := repository.Origin{Via: x.Via, Depth: -1}
	if e != nil && x.URL == e.Link.URL {
		from.Via = e.Parent
	}
	if e != nil && (x.Via != "" || x.URL == e.Link.URL) {
		from.Depth = e.Depth
	}
	return k.file.Write(x, from)
}

// open begins the file. request is the head of a request.
func (k *keeping) open(ctx context.Context, request string) (err error) {
	if k.file != nil {
		return nil
	}
	said := []string{fmt.Sprintf("description: crawl %d of %s", k.crawl, k.host), "robots: obey"}
	for line := range strings.Lines(request) {
		if name, value, _ := strings.Cut(line, ": "); http.CanonicalHeaderKey(name) == "User-Agent" {
			said = append(said, "http-header-user-agent: "+strings.TrimSpace(value))
		}
	}
	if k.file, err = k.repo.CrawlFile(ctx, k.host, "Gleaner", said...); err != nil {
		return err
	}
	for _, path := range k.file.Aside {
		k.log.ErrorContext(ctx, "a crawl file that a worker left behind cannot be read; it is set aside", "file", path)
	}
	return nil
}

// cached writes an answer that was fetched before the crawl.
func (k *keeping) cached(ctx context.Context, r *fetch.Response) error {
	if k == nil {
		return nil
	}
	if err := k.open(ctx, ""); err != nil {
		return err
	}
	return k.file.WriteItem(repository.Item{URL: r.URL, Status: r.Status, Header: r.Header, FetchedAt: r.FetchedAt, MediaType: r.Header.Get("Content-Type")}, r.Body)
}

// close ends the file. What is in it stays, whatever the error.
func (k *keeping) close(ctx context.Context) error {
	if k == nil {
		return nil
	}
	for _, x := range k.tape.Take() {
		x.Close()
	}
	if k.file == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return k.file.Close(ctx)
}
