package collection

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"

	"gleaner/internal/document"
	"gleaner/internal/frontier"
	"gleaner/internal/repository"
	"gleaner/internal/store"
)

// Collection is the library's new stock. It is safe for concurrent use.
type Collection struct {
	db     *store.DB
	repo   *repository.Repository
	reader *document.Reader
	filter *document.Filter
	wanted *wanted
	log    *slog.Logger
}

// New makes a collection over the record and the blob store.
func New(db *store.DB, repo *repository.Repository, reader *document.Reader, filter *document.Filter, log *slog.Logger) *Collection {
	return &Collection{db: db, repo: repo, reader: reader, filter: filter, wanted: &wanted{db: db}, log: log}
}

// File is a fetched file and where it came from.
type File struct {
	SiteID  int
	URL     string // canonical
	Parent  string // the page that links to it
	Anchor  string
	Context string
	Header  http.Header
	Body    []byte
	At      time.Time
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

// Add stores a file and returns the SHA-256 of the documents in it: of the file
// itself, or of each member of an archive with several. A file with nothing in
// it that may be a paper is stored none the less, as rejected by its kind.
func (c *Collection) Add(ctx context.Context, f File) ([]string, error) {
	name, media := path.Base(f.URL), f.Header.Get("Content-Type")
	parts, err := document.Unpack(name, media, f.Body, document.Limits{})
	if err != nil {
		// What is wrong with it is found again, and named, when it is judged.
		c.log.Debug("archive cannot be unpacked", "url", f.URL, "error", err)
	}
	if len(parts) < 2 {
		kind := document.Sniff(name, media, f.Body)
		if len(parts) == 1 {
			kind = parts[0].Kind
		}
		sha, err := c.add(ctx, f, "", kind, f.Body)
		return []string{sha}, err
	}
	var all []string
	for _, p := range parts {
		if !p.Kind.IsDocument() {
			continue
		}
		sha, err := c.add(ctx, f, p.Name, p.Kind, p.Body)
		if err != nil {
			return nil, err
		}
		all = append(all, sha)
	}
	return all, nil
}

func (c *Collection) add(ctx context.Context, f File, member string, kind document.Kind, body []byte) (string, error) {
	digest, err := c.repo.Put(ctx, body)
	if err != nil {
		return "", fmt.Errorf("collection: %s: %w", f.URL, err)
	}
	hash := frontier.HashOf(f.URL)
	if member != "" {
		sum := sha256.Sum256([]byte(string(hash[:]) + member))
		hash = frontier.Hash(sum[:16])
	}
	d := store.Document{SHA256: digest.SHA256, SHA1: digest.SHA1, MD5: digest.MD5, Bytes: digest.Size, Kind: string(kind)}
	err = c.db.SaveFetched(ctx, d, store.Location{Hash: hash[:], SiteID: f.SiteID, URL: f.URL, Member: member, Parent: f.Parent,
		Anchor: f.Anchor, Context: f.Context, Header: keptHeader(f.Header), Found: f.At})
	if err != nil {
		return "", fmt.Errorf("collection: %s: %w", f.URL, err)
	}
	return digest.SHA256, nil
}

// keptHeader is the provenance worth keeping of an answer's header.
func keptHeader(h http.Header) map[string]string {
	kept := map[string]string{}
	for _, k := range []string{"Content-Type", "Content-Length", "Content-Disposition", "Last-Modified", "Etag", "Date", "Server"} {
		if v := h.Get(k); v != "" {
			kept[k] = strings.ToValidUTF8(v, "�")
		}
	}
	return kept
}
