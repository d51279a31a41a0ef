package repository

import "context"

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

// Holds reports whether a document of a size lies in the store.
func (r *Repository) Holds(ctx context.Context, sha256 string, size int64) (bool, error) {
	return r.has(ctx, Path(sha256), size)
}
