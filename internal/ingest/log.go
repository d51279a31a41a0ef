package ingest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"gleaner/internal/ingest/archive"
)

// ErrInput marks what the person who set up an import has to change.
var ErrInput = errors.New("import")

// Log is what a crawler left, read in an order that does not change.
type Log interface {
	// Next gives the next resource; the one before is read to its end by then, or
	// never. What is said of a resource may grow until the next call returns: some
	// logs name its parent behind it. The error is io.EOF itself at the end; what is wrong
	// with the log itself is a resource that has Skip.
	Next(ctx context.Context) (*Resource, error)
	// Read is how far it is, and how far it goes, in bytes of the log.
	Read() (done, total int64)
	// Extent is how much there is of it, as far as that is known before its end.
	Extent() Extent
	// Watch has begins called before a file or a folder of the log is opened, whose error
	// is Next's, and moved whenever something of an archive was read. Once that is true, Next
	// gives a resource that is nothing yet where none comes.
	Watch(begins func(ctx context.Context, file string) error, moved func() bool)
	// Pass has the next call of Next give a resource that it does not look into or, where
	// a file or a folder is named, one that stands for the rest of that, which is not read.
	Pass(file, why string)
	Close() error
}

// Extent is how much there is of a log, counted by listing it; 0 is not known.
type Extent struct {
	Resources int64 `json:"resources,omitempty"`
	Archives  int64 `json:"archives,omitempty"`
	Archive   int64 `json:"archive,omitempty"` // which of them is read, from 1
}

// Position is where a resource stands in a log: reading can begin there again.
type Position struct {
	File string `json:"file,omitempty"` // of the log's files
	Name string `json:"name,omitempty"` // of a folder's files, escaped as in a URL
	// Version is that of File, where its place tells it: reading goes on in the same.
	Version string `json:"version,omitempty"`
	archive.Position
	Line int64 `json:"line,omitempty"` // of a list, from 1
	Pass int   `json:"pass,omitempty"` // resources there to be passed over
}

// Resource is one thing that a crawler went to.
type Resource struct {
	At      Position
	Source  string // the log's file that it is in
	URL     string // as the crawler wrote it
	Parent  string // the page that led there; "" where nobody says
	Depth   int    // links from the seed; -1 where nobody says
	Seed    bool
	Crawled time.Time   // zero where nobody says
	Media   string      // MIME type, as the server said
	Header  http.Header // of the answer; may be nil

	Line   int       // bytes of the log that these texts are parts of; 0 where each is its own
	Skip   string    // why there is no document: dns, status 404, damaged; "" where there may be one
	Detail string    // more about Skip
	Cut    string    // why the crawler did not keep all of it; "" where it did
	SHA1   []byte    // of the payload, as the log promises; nil where it does not
	Again  bool      // the log has no bytes, since they were as before: of SHA1, or from SameAs
	SameAs string    // URL of the earlier answer
	SameOn time.Time // when that was got; zero where nobody says
	File   *fileRead // of a list, that several resources may have; nil for none
	Note   string    // what the log says of it and is not so; the payload is taken all the same

	// Open gives the payload; nil where Skip or Again say that there is none.
	Open func() (io.ReadCloser, error)
}
