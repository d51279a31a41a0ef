package repository

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"sync"
)

// The sidecars that lie beside a document.
const (
	kindText = "text"
	kindMeta = "meta"
)

// sidecarPath is the key of a sidecar. Sidecars have a tree of their own, so that
// walking documents does not read them.
func sidecarPath(sha256, kind string) string {
	return kind + "/" + sha256[:2] + "/" + sha256 + map[string]string{kindText: ".txt.gz", kindMeta: ".json"}[kind]
}

// packers are kept, since one takes most of a megabyte to make. The fastest level
// packs text to two fifths of its size at less than half the work of the usual one.
var packers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is a good one
	return z
}}

// PutText stores the text of a document, compressed, and replaces an earlier
// one (of another reader).
func (r *Repository) PutText(ctx context.Context, sha256, text string) error {
	if err := r.may(ctx, sha256); err != nil {
		return err
	}
	var b bytes.Buffer
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	z.Reset(&b)
	if _, err := io.WriteString(z, text); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return r.write(ctx, file{sidecarPath(sha256, kindText), &b})
}

// GetText returns the text of a document; ErrNotFound where none was stored.
func (r *Repository) GetText(ctx context.Context, sha256 string) (string, error) {
	if err := r.may(ctx, sha256); err != nil {
		return "", err
	}
	rd, err := r.bucket.NewReader(ctx, sidecarPath(sha256, kindText), nil)
	if err != nil {
		return "", r.told(ctx, err)
	}
	defer func() { _ = rd.Close() }()
	z, err := gzip.NewReader(rd)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(z)
	return string(b), err
}

// PutMeta stores what is known of documents (provenance, headers, reader, scores), by their
// SHA-256, as indented JSON, and replaces what was there.
func (r *Repository) PutMeta(ctx context.Context, metas map[string]any) error {
	var files []file
	for sha256, meta := range metas {
		if err := r.may(ctx, sha256); err != nil {
			return err
		}
		b, err := json.MarshalIndent(meta, "", "  ")
		if err != nil {
			return err
		}
		files = append(files, file{sidecarPath(sha256, kindMeta), bytes.NewReader(append(b, '\n'))})
	}
	return r.write(ctx, files...)
}
