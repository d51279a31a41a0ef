package ingest

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gleaner/internal/record/frontier"
)

// beside is a crawl.log in the folder of archives. It has the provenance of URLs of which the
// archives have none. Log and archives are nearly in the order of the crawl, so only a window
// of the log is held in memory.
type beside struct {
	file      *os.File
	in        *bufio.Reader
	at        time.Time // of the last line that was read
	over      bool
	within    bool                         // a line that does not fit the buffer
	near, far map[frontier.Hash]provenance // of the lines read last, and of those before
	bytes     int                          // that near holds
}

const (
	// windowLines is half of the lines that are held, windowBytes half of their texts.
	windowLines = 50_000
	windowBytes = 8 << 20
	// late is how far behind its archive's record a line may be, in the log's time.
	late = 10 * time.Minute
)

// openBeside opens the crawl.log of an archive; nil where there is none.
func openBeside(d disk, archive string) *beside {
	dir := filepath.Dir(archive)
	name := d.firstThere(filepath.Join(dir, crawlLog), filepath.Join(dir, "logs", crawlLog), filepath.Join(filepath.Dir(dir), "logs", crawlLog))
	if name == "" {
		return nil
	}
	file, err := d.open(name)
	if err != nil {
		return nil
	}
	return &beside{file: file, in: bufio.NewReaderSize(file, 64<<10), near: map[frontier.Hash]provenance{}}
}

func (b *beside) close() {
	if b != nil {
		_ = b.file.Close()
	}
}

// find returns the provenance of a URL that was fetched at a time. It reads the log up to
// that time, or until over returns an error.
func (b *beside) find(url string, got time.Time, over func() error) (provenance, bool) {
	h := frontier.HashOf(url)
	for {
		if s, is := b.near[h]; is {
			return s, true
		}
		if s, is := b.far[h]; is {
			return s, true
		}
		if b.over || b.at.After(got.Add(late)) || over() != nil {
			return provenance{}, false
		}
		b.read()
	}
}

// read takes one line; one that does not fit the buffer is none of a crawl.log, and
// neither is any part of it.
func (b *beside) read() {
	line, err := b.in.ReadSlice('\n')
	part := b.within
	b.within = errors.Is(err, bufio.ErrBufferFull)
	b.over = err != nil && !b.within
	f := strings.Fields(string(line))
	if part || b.within || len(f) <= logMedia {
		return
	}
	if at := fetched(f); at.After(b.at) {
		b.at = at
	}
	if len(b.near) >= windowLines || b.bytes >= windowBytes {
		b.near, b.far, b.bytes = map[frontier.Hash]provenance{}, b.near, 0
	}
	s := provenanceIn(f)
	b.near[frontier.HashOf(s.url)] = provenance{parent: strings.Clone(s.parent), path: strings.Clone(s.path)}
	b.bytes += len(s.parent) + len(s.path)
}

// annotate adds the provenance of a resource, if the log has it.
func (b *beside) annotate(r *Resource, over func() error) {
	if b == nil {
		return
	}
	if s, is := b.find(r.URL, r.Crawled, over); is {
		r.setProvenance(s)
	}
}
