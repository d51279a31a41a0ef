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

// Reader extracts text from files, as document.Reader does.
type Reader interface {
	Read(context.Context, document.Part) (*document.Text, error)
	ReadUntil(context.Context, document.Part, func(*document.Text) document.More) (*document.Text, error)
	Quick() *document.Reader
	Recognises() bool
	Picture(ctx context.Context, body []byte) ([]byte, error)
}

// Parts are the dependencies of a collection.
type Parts struct {
	DB     *store.DB
	Repo   *repository.Repository
	Reader Reader
	Filter *document.Filter // nil stores every document unread, like the switch of CDI (Wu et al., WIDM 2012)
	// Disciplines classifies accepted documents; nil accepts all disciplines.
	Disciplines *classify.Disciplines
	Cores       int           // documents read concurrently; 0 is the number of processors
	Names       bool          // skip files by name or size (Chen 2008, File Fetcher)
	Whole       bool          // read the whole text of every document; else of wanted papers and unclear ones
	Memory      *fetch.Memory // limits unpacked bytes in memory; nil is no limit
	Log         *slog.Logger
}

// Collection stores and judges new documents of the library. It is safe for concurrent use.
type Collection struct {
	db      *store.DB
	repo    *repository.Repository
	reader  Reader
	filter  *document.Filter
	of      *classify.Disciplines
	whole   bool
	names   bool
	wanted  *wanted
	cores   chan struct{}       // one token per document being read
	judging *semaphore.Weighted // weight 1 per document being judged, everybody for one alone
	owed    *sync.Map           // documents that could not be freed, and the hands that took them
	memory  *fetch.Memory
	slice   time.Duration // sliceTime
	log     *slog.Logger

	judged func(Judgement, time.Duration)

	// reached is called at each point between a download and its judgement, for tests.
	reached func(point)
}

// WhenJudged sets a function that is called with each judged document and the time that this
// took. It must not block, and must be set before the first document.
func (c *Collection) WhenJudged(f func(Judgement, time.Duration)) { c.judged = f }

// point is a place in the code where a crash leaves a distinct state.
type point string

// Points in the order in which a file passes them.
const (
	fetched  point = "fetched"  // nothing is stored
	stored   point = "stored"   // the blob is
	recorded point = "recorded" // the row is
	read     point = "read"     // the text is known
	written  point = "written"  // the sidecars are
	sketched point = "sketched" // the sketch is
	judged   point = "judged"   // all is
)

// New returns a collection over the record and the repository.
func New(p Parts) *Collection {
	p.Cores = cmp.Or(max(p.Cores, 0), runtime.NumCPU())
	p.Log = cmp.Or(p.Log, slog.New(slog.DiscardHandler))
	return &Collection{db: p.DB, repo: p.Repo, reader: p.Reader, filter: p.Filter, of: p.Disciplines, whole: p.Whole, names: p.Names, wanted: &wanted{db: p.DB},
		cores: make(chan struct{}, p.Cores), judging: semaphore.NewWeighted(everybody), owed: &sync.Map{},
		memory: p.Memory, slice: sliceTime, log: p.Log, judged: func(Judgement, time.Duration) {}, reached: func(point) {}}
}

// File is a fetched file with its origin.
type File struct {
	SiteID  int
	URL     string // canonical
	Asked   string // the requested URL, if it redirected here
	Parent  string // the page that links to it
	Anchor  string
	Context string
	Heading string // nearest heading before the link
	Header  http.Header
	Body    []byte
	At      time.Time

	MetaTitle string // title of the document, where a landing page gives it
	DOI       string // likewise

	Token int64 // of the lease at the fetch; 0 for none
	Trial bool  // store nothing
}

// ContentKind is the kind of a fetched body for a crawl.
type ContentKind int

// A page has links; a document may be, or contain, a paper.
const (
	ContentUnknown ContentKind = iota
	ContentPage
	ContentDocument
)

// Sniff returns the kind of a fetched body by its content.
func Sniff(url, mediaType string, body []byte) ContentKind {
	k := document.Sniff(path.Base(url), mediaType, body)
	switch {
	case k == document.HTML || k == document.PlainText || k == document.XML || k == document.Empty:
		return ContentPage
	case k.IsDocument() || k.IsPacked():
		return ContentDocument
	}
	return ContentUnknown
}

// Repository returns the repository of the collection's files.
func (c *Collection) Repository() *repository.Repository { return c.repo }

// Ready returns nil if the repository accepts files. It is cheap in that case.
func (c *Collection) Ready(ctx context.Context) error { return c.repo.Ready(ctx) }

// add stores documents and their places.
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

// location returns the place of a document.
func (s stock) location() store.Location {
	f := s.file
	hash, asked := frontier.HashOf(f.URL), frontier.HashOf(cmp.Or(f.Asked, f.URL))
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

// maxHeader is the greatest stored length of a header field in bytes. A document may have many
// places, which are read together.
const maxHeader = 1 << 10

// keptHeader returns the fields of a header that are stored as provenance.
func keptHeader(h http.Header) map[string]string {
	kept := map[string]string{}
	for _, k := range []string{"Content-Type", "Content-Length", "Content-Disposition", "Last-Modified", "Etag", "Date", "Server"} {
		if v := h.Get(k); v != "" {
			kept[k] = clean(v[:min(len(v), maxHeader)])
		}
	}
	return kept
}

// clean removes characters that a text column cannot hold.
func clean(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\x00", "") }

// takeCore waits for a free processor, and returns a function that releases it. Every reading
// takes one, of crawls and of imports: each runs a child process, and more of them than
// processors only use memory.
func (c *Collection) takeCore(ctx context.Context) (release func(), err error) {
	select {
	case c.cores <- struct{}{}:
		return func() { <-c.cores }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
