package collection

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"gleaner/internal/classify"
	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// Reader reads text out of files, as document.Reader does.
type Reader interface {
	Read(context.Context, document.Part) (*document.Text, error)
	ReadUntil(context.Context, document.Part, func(*document.Text) document.More) (*document.Text, error)
	Quick() *document.Reader
	Recognises() bool
	Picture(ctx context.Context, body []byte) ([]byte, error)
}

// Parts are what a collection is made of.
type Parts struct {
	DB     *store.DB
	Repo   *repository.Repository
	Reader Reader
	Filter *document.Filter // nil keeps every document unread, as the switch of CDI does (Wu et al., WIDM 2012)
	// Disciplines of which an academic document is to be, by the likeness of its text;
	// nil takes all.
	Disciplines *classify.Disciplines
	Cores       int           // documents read at a time; 0 is the number of processors
	Names       bool          // pass files over unread whose name or size speaks against them (Chen 2008, File Fetcher)
	Whole       bool          // read and keep all text of every document; else that of wanted papers and of what the first pages leave open
	Memory      *fetch.Memory // bounds what is unpacked at a time, all files together; nil does not
	Log         *slog.Logger
}

// Collection is the library's new stock. It is safe for concurrent use.
type Collection struct {
	db      *store.DB
	repo    *repository.Repository
	reader  Reader
	filter  *document.Filter
	of      *classify.Disciplines
	whole   bool
	names   bool
	wanted  *wanted
	cores   chan struct{}       // one token a document that is being read
	judging *semaphore.Weighted // a part of everybody for each document that is being judged
	owed    *sync.Map           // documents that could not be freed, and by whose hands they were taken
	memory  *fetch.Memory
	slice   time.Duration // sliceTime
	log     *slog.Logger

	judged func(Judgement, time.Duration)

	// reached is told of each point between a download and its judgement; tests
	// stop there.
	reached func(point)
}

// WhenJudged calls f, which must not block, with each document that was read and
// judged, and how long that took. It is to be called before the first one is.
func (c *Collection) WhenJudged(f func(Judgement, time.Duration)) { c.judged = f }

// point is a place in the code at which a crash leaves a state of its own.
type point string

// The points, in the order in which a file passes them.
const (
	fetched  point = "fetched"  // nothing is stored
	stored   point = "stored"   // the blob is
	recorded point = "recorded" // the row is
	read     point = "read"     // the text is known
	written  point = "written"  // the sidecars are
	sketched point = "sketched" // the sketch is
	judged   point = "judged"   // all is
)

// New makes a collection over the record and the blob store.
func New(p Parts) *Collection {
	p.Cores = cmp.Or(max(p.Cores, 0), runtime.NumCPU())
	p.Log = cmp.Or(p.Log, slog.New(slog.DiscardHandler))
	return &Collection{db: p.DB, repo: p.Repo, reader: p.Reader, filter: p.Filter, of: p.Disciplines, whole: p.Whole, names: p.Names, wanted: &wanted{db: p.DB},
		cores: make(chan struct{}, p.Cores), judging: semaphore.NewWeighted(everybody), owed: &sync.Map{},
		memory: p.Memory, slice: sliceTime, log: p.Log, judged: func(Judgement, time.Duration) {}, reached: func(point) {}}
}

// File is a fetched file and where it came from.
type File struct {
	SiteID  int
	URL     string // canonical
	Asked   string // the URL that was asked for, where it led to this one
	Parent  string // the page that links to it
	Anchor  string
	Context string
	Heading string // nearest heading before the link
	Header  http.Header
	Body    []byte
	At      time.Time

	MetaTitle string // title of the document, where a landing page gives it
	DOI       string // likewise

	Token int64 // of the lease under which it was fetched; 0 for none
	Trial bool  // nothing of it is to be kept
}

// What is what a fetched body is to a crawl.
type What int

// A page has links, a file may be (or hold) a paper, and the rest is neither.
const (
	Neither What = iota
	APage
	AFile
)

// Sniff tells by content what a fetched body is.
func Sniff(url, mediaType string, body []byte) What {
	k := document.Sniff(path.Base(url), mediaType, body)
	switch {
	case k == document.HTML || k == document.PlainText || k == document.XML || k == document.Empty:
		return APage
	case k.IsDocument() || k.IsPacked():
		return AFile
	}
	return Neither
}

// Repository is where the collection's files are.
func (c *Collection) Repository() *repository.Repository { return c.repo }

// Ready reports whether the blob store takes files. It costs nothing while it does.
func (c *Collection) Ready(ctx context.Context) error { return c.repo.Ready(ctx) }

// add stores documents, and records where they were found.
func (c *Collection) add(ctx context.Context, all []stock) error {
	bodies, rows := make([][]byte, len(all)), make([]store.Fetched, len(all))
	for i := range all {
		bodies[i] = all[i].content.body
	}
	digests, err := c.repo.PutAll(ctx, bodies...)
	for i := range all[:len(digests)] {
		s, d := &all[i], digests[i]
		s.sha256 = d.SHA256
		rows[i] = store.Fetched{
			Document: store.Document{SHA256: d.SHA256, SHA1: d.SHA1, MD5: d.MD5, Bytes: d.Size, Kind: string(s.kind)},
			Location: s.location(),
			Put:      func() error { _, err := c.repo.Put(ctx, s.content.body); return err },
		}
	}
	if err == nil {
		c.reached(stored)
		err = c.db.SaveAllFetched(ctx, rows)
	}
	if err != nil {
		return fmt.Errorf("collection: %s: %w", all[0].file.URL, err)
	}
	c.reached(recorded)
	return nil
}

// location is where a document was found.
func (s stock) location() store.Location {
	f := s.file
	hash := frontier.HashOf(f.URL)
	asked := hash
	if f.Asked != "" {
		asked = frontier.HashOf(f.Asked)
	}
	if s.member != "" {
		sum := sha256.Sum256([]byte(string(hash[:]) + s.member))
		hash = frontier.Hash(sum[:16])
	}
	return store.Location{
		Hash: hash[:], SiteID: f.SiteID, URL: f.URL, Member: clean(s.member), Parent: f.Parent,
		Anchor: f.Anchor, Context: f.Context, Header: keptHeader(f.Header), Found: f.At,
		Heading: f.Heading, MetaTitle: f.MetaTitle, DOI: f.DOI, Asked: asked[:], Token: f.Token,
	}
}

// maxHeader bounds what is kept of one field of a header, in bytes: a document may be at many
// addresses, and all that is kept of these is read with it.
const maxHeader = 1 << 10

// keptHeader is the provenance worth keeping of an answer's header.
func keptHeader(h http.Header) map[string]string {
	kept := map[string]string{}
	for _, k := range []string{"Content-Type", "Content-Length", "Content-Disposition", "Last-Modified", "Etag", "Date", "Server"} {
		if v := h.Get(k); v != "" {
			kept[k] = clean(v[:min(len(v), maxHeader)])
		}
	}
	return kept
}

// clean drops what a text column cannot hold.
func clean(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\x00", "") }

// takeCore waits until a processor is free for a document, and returns what
// gives it back. Every reading goes through it, a crawl's as well as an import's:
// each runs a child of its own, and more of them than processors only take
// memory.
func (c *Collection) takeCore(ctx context.Context) (release func(), err error) {
	select {
	case c.cores <- struct{}{}:
		return func() { <-c.cores }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
