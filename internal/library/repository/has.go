package repository

import (
	"bytes"
	"context"
	"errors"
)

// Sidecars reports whether the text and the metadata of a document lie beside it.
func (r *Repository) Sidecars(ctx context.Context, sha256 string) (text, meta bool, err error) {
	if err := r.may(ctx, sha256); err != nil {
		return false, false, err
	}
	if text, err = r.bucket.Exists(ctx, sidecarPath(sha256, kindText)); err != nil {
		return false, false, typed(err)
	}
	meta, err = r.bucket.Exists(ctx, sidecarPath(sha256, kindMeta))
	return text, meta, typed(err)
}

// Mend writes a document anew where its file has other bytes than its name says.
func (r *Repository) Mend(ctx context.Context, sha256 string, body []byte) error {
	if err := r.Check(ctx, sha256); !errors.Is(err, ErrCorrupt) {
		return err
	}
	return r.write(ctx, file{Path(sha256), bytes.NewReader(body)})
}
