package repository

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"
	"gocloud.dev/gcerrors"

	"gleaner/internal/guard"
)

// Errors that callers distinguish; others are those of the store.
var (
	ErrNotFound = errors.New("not in the repository")
	ErrFull     = errors.New("no space left for the repository: make room")
	ErrCorrupt  = errors.New("the document's bytes are not what its name says")
	ErrDigest   = errors.New("want a SHA-256 in lower-case hexadecimal")
	ErrScheme   = errors.New("want a folder, file://, s3:// or mem://")
)

// Digest names a document. The hexadecimal sums are in lower case; Size is in
// bytes.
type Digest struct {
	SHA256 string `json:"sha256"`
	SHA1   string `json:"sha1"`
	MD5    string `json:"md5"`
	Size   int64  `json:"size"`
}

// Repository stores documents. It is safe for concurrent use, and several
// processes may share one store.
type Repository struct {
	bucket *blob.Bucket
	url    string
	folder *folder                // nil where the store is no folder
	owner  Owner                  // nil where nobody asks whose the store is
	id     atomic.Pointer[string] // of the owner, once it was asked for
	seen   atomic.Bool

	lock    func(*os.File) error // locks a file that nobody else has locked (else syscall.EWOULDBLOCK)
	refused atomic.Int64         // the size of the last file, in bytes, that the store did not take; 0 since it took one
	probing sync.Mutex
}

// Open opens the store at rawURL: a folder ("/var/lib/papers",
// "file:///var/lib/papers"), which is made if it is missing, or a bucket
// ("s3://papers?region=eu-west-1&prefix=gleaner/"; see gocloud.dev/blob/s3blob
// for the parameters), or "mem://".
func Open(ctx context.Context, rawURL string) (*Repository, error) {
	r := &Repository{url: rawURL, lock: flock}
	scheme, rest, found := strings.Cut(rawURL, "://")
	var err error
	switch {
	case !found && rawURL != "":
		err = r.openFolder(rawURL)
	case scheme == "file":
		path, perr := url.PathUnescape(rest)
		if perr != nil || path == "" {
			return nil, fmt.Errorf("repository %q: %w", rawURL, ErrScheme)
		}
		err = r.openFolder(filepath.FromSlash(path))
	case scheme == "mem":
		r.bucket = memblob.OpenBucket(nil)
	case scheme == "s3":
		r.bucket, err = OpenS3(ctx, rawURL)
	default:
		return nil, fmt.Errorf("repository %q: %w", rawURL, ErrScheme)
	}
	if err != nil {
		return nil, fmt.Errorf("repository %s: %w", rawURL, typed(err))
	}
	return r, nil
}

func (r *Repository) openFolder(path string) error {
	f, err := openFolder(path)
	if err != nil {
		return err
	}
	r.folder = f
	r.bucket, err = fileblob.OpenBucket(path, &fileblob.Options{Metadata: fileblob.MetadataDontWrite, NoTempDir: true})
	return err
}

// Close closes the store.
func (r *Repository) Close() error { return r.bucket.Close() }

// URL returns the URL given to Open.
func (r *Repository) URL() string { return r.url }

// Path is the key of a document in the store, and in a folder its path below the
// root: "documents/ab/abcd…". A folder of ten million documents has forty thousand
// in each of its 256: more folders would take longer to make than the documents.
func Path(sha256 string) string { return "documents/" + sha256[:min(2, len(sha256))] + "/" + sha256 }

// Put stores body and returns its digest.
func (r *Repository) Put(ctx context.Context, body []byte) (Digest, error) {
	all, err := r.PutAll(ctx, body)
	return all[0], err
}

// PutAll is Put of several, which reach the disk together.
func (r *Repository) PutAll(ctx context.Context, bodies ...[]byte) ([]Digest, error) {
	all, there := make([]Digest, len(bodies)), make([]bool, len(bodies))
	err := guard.Several(ctx, atOnce, len(bodies), func(ctx context.Context, i int) (err error) {
		h := newHashes()
		_, _ = h.Write(bodies[i])
		all[i] = h.digest()
		there[i], err = r.has(ctx, Path(all[i].SHA256), all[i].Size)
		return r.noted(err, all[i].Size)
	})
	var files []file
	var size int64
	for i, d := range all {
		if !there[i] {
			files, size = append(files, file{Path(d.SHA256), bytes.NewReader(bodies[i])}), size+d.Size
		}
	}
	if err == nil && len(files) > 0 {
		err = r.noted(r.write(ctx, files...), size)
	}
	return all, err
}

// has reports whether key is there whole. A file of another size is what a
// crash of the machine left of it: it is written again. -1 is any size.
func (r *Repository) has(ctx context.Context, key string, size int64) (bool, error) {
	if err := r.first(ctx); err != nil {
		return false, err
	}
	a, err := r.bucket.Attributes(ctx, key)
	if err = r.told(ctx, err); errors.Is(err, ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return size < 0 || a.Size == size, nil
}

// write stores files, each whole or not at all.
func (r *Repository) write(ctx context.Context, files ...file) error {
	if err := r.first(ctx); err != nil {
		return err
	}
	return r.noted(r.told(ctx, r.put(ctx, files...)), 0)
}

// openAtOnce is how many files are open at a time while they are stored together, and
// atOnce how many are synced or uploaded.
const openAtOnce, atOnce = 64, 16

func (r *Repository) put(ctx context.Context, files ...file) error {
	if r.folder == nil {
		return guard.Several(ctx, atOnce, len(files), func(ctx context.Context, i int) error { return upload(ctx, r.bucket, files[i]) })
	}
	for some := range slices.Chunk(files, openAtOnce) {
		if err := r.folder.write(ctx, some...); err != nil {
			return typed(err)
		}
	}
	return nil
}

func upload(ctx context.Context, to *blob.Bucket, f file) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := to.NewWriter(ctx, f.key, &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err != nil {
		return typed(err)
	}
	if _, err := io.Copy(w, f.body); err != nil {
		cancel() // closing a writer whose context is cancelled stores nothing
		_ = w.Close()
		return typed(err)
	}
	return typed(w.Close())
}

// Get opens a document; the caller closes it. The error is ErrNotFound where it
// is not there.
func (r *Repository) Get(ctx context.Context, sha256 string) (io.ReadCloser, error) {
	if err := r.may(ctx, sha256); err != nil {
		return nil, err
	}
	rd, err := r.bucket.NewReader(ctx, Path(sha256), nil)
	if err != nil {
		return nil, r.told(ctx, err)
	}
	return rd, nil
}

// Read reads a whole document.
func (r *Repository) Read(ctx context.Context, sha256 string) ([]byte, error) {
	if err := r.may(ctx, sha256); err != nil {
		return nil, err
	}
	b, err := r.bucket.ReadAll(ctx, Path(sha256))
	return b, r.told(ctx, err)
}

// Exists reports whether a document is there.
func (r *Repository) Exists(ctx context.Context, sha256 string) (bool, error) {
	if err := checkDigest(sha256); err != nil {
		return false, err
	}
	return r.has(ctx, Path(sha256), -1)
}

// Delete removes a document and its sidecars. What is not there is removed
// already.
func (r *Repository) Delete(ctx context.Context, sha256 string) error {
	if err := r.may(ctx, sha256); err != nil {
		return err
	}
	// The document goes last: an interrupted Delete leaves one that can be
	// deleted again, never sidecars that belong to nothing.
	for _, key := range []string{sidecarPath(sha256, kindText), sidecarPath(sha256, kindMeta), Path(sha256)} {
		if err := r.told(ctx, r.bucket.Delete(ctx, key)); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

// Entry is one document as Walk finds it.
type Entry struct {
	SHA256   string
	Size     int64 // bytes
	Modified time.Time
}

// Walk calls do for every document, in the order of their digests, and stops at
// its first error.
func (r *Repository) Walk(ctx context.Context, do func(Entry) error) error {
	if err := r.There(ctx); err != nil { // an empty folder has nothing to walk, and no error
		return err
	}
	it := r.bucket.List(&blob.ListOptions{Prefix: "documents/"})
	for {
		o, err := it.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return typed(err)
		}
		sha := o.Key[strings.LastIndexByte(o.Key, '/')+1:]
		if o.IsDir || checkDigest(sha) != nil {
			continue
		}
		if err := do(Entry{SHA256: sha, Size: o.Size, Modified: o.ModTime}); err != nil {
			return err
		}
	}
}

// Check reads a document and compares it with its name. The error is ErrCorrupt
// or ErrNotFound.
func (r *Repository) Check(ctx context.Context, sha256 string) error {
	rd, err := r.Get(ctx, sha256)
	if err != nil {
		return err
	}
	defer func() { _ = rd.Close() }()
	h := newHashes()
	if _, err := io.Copy(h, withContext(ctx, rd)); err != nil { // and not by a WriteTo, which takes a megabyte
		return typed(err)
	}
	if h.digest().SHA256 != sha256 {
		return fmt.Errorf("%s: %w", sha256, ErrCorrupt)
	}
	return nil
}

// hashes computes all sums of a Digest in one pass.
type hashes struct {
	sha256, sha1, md5 hash.Hash
	size              int64
}

func newHashes() *hashes { return &hashes{sha256: sha256.New(), sha1: sha1.New(), md5: md5.New()} }

func (h *hashes) Write(p []byte) (int, error) {
	h.sha256.Write(p)
	h.sha1.Write(p)
	h.md5.Write(p)
	h.size += int64(len(p))
	return len(p), nil
}

func (h *hashes) digest() Digest {
	return Digest{
		SHA256: hex.EncodeToString(h.sha256.Sum(nil)),
		SHA1:   hex.EncodeToString(h.sha1.Sum(nil)),
		MD5:    hex.EncodeToString(h.md5.Sum(nil)),
		Size:   h.size,
	}
}

// may returns an error for an invalid digest, and for a store that is not the record's.
func (r *Repository) may(ctx context.Context, sha256 string) error {
	if err := checkDigest(sha256); err != nil {
		return err
	}
	return r.first(ctx)
}

// checkDigest returns an error for an invalid digest, which must not become a path.
func checkDigest(s string) error {
	if len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return fmt.Errorf("%.80q: %w", s, ErrDigest)
	}
	return nil
}

// typed returns an error that callers distinguish, if it is one.
func typed(err error) error {
	switch {
	case err == nil, errors.Is(err, ErrFull), errors.Is(err, ErrNotFound):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: %w", ErrFull, err)
	case gcerrors.Code(err) == gcerrors.NotFound, errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return err
}

// withContext ends a copy when the context does.
func withContext(ctx context.Context, r io.Reader) io.Reader { return ctxReader{ctx, r} }

type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
