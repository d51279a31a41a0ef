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

// beside is a crawl.log that lies beside archives: it says how their URLs were found,
// where they do not say it themselves. Both are in the order of the crawl, or nearly,
// so a window of the log is all that is held of it.
type beside struct {
	file      *os.File
	in        *bufio.Reader
	at        time.Time // of the last line that was read
	over      bool
	within    bool                   // a line that does not fit the buffer
	near, far map[frontier.Hash]said // of the lines read last, and of those before
	bytes     int                    // that near holds
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
	return &beside{file: file, in: bufio.NewReaderSize(file, 64<<10), near: map[frontier.Hash]said{}}
}

func (b *beside) close() {
	if b != nil {
		_ = b.file.Close()
	}
}

// about is what the log says of a URL that was got at a time. It reads on for it,
// until it is told to stop.
func (b *beside) about(url string, got time.Time, over func() error) (said, bool) {
	h := frontier.HashOf(url)
	for {
		if s, is := b.near[h]; is {
			return s, true
		}
		if s, is := b.far[h]; is {
			return s, true
		}
		if b.over || b.at.After(got.Add(late)) || over() != nil {
			return said{}, false
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
		b.near, b.far, b.bytes = map[frontier.Hash]said{}, b.near, 0
	}
	s := saidIn(f)
	b.near[frontier.HashOf(s.url)] = said{parent: strings.Clone(s.parent), path: strings.Clone(s.path)}
	b.bytes += len(s.parent) + len(s.path)
}

// tell has the log of an archive say of a resource what the archive may not.
func (b *beside) tell(r *Resource, over func() error) {
	if b == nil {
		return
	}
	if s, is := b.about(r.URL, r.Crawled, over); is {
		r.hear(s)
	}
}
