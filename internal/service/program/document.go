package program

import (
	"context"
	"fmt"
	"strings"

	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// FindDocument returns the SHA-256 of the document that a person names: by it, by six or more of
// its first digits, or by an address where it lies.
func FindDocument(ctx context.Context, db *store.DB, given string) (string, error) {
	given = strings.TrimSpace(given)
	var like []string
	var err error
	if strings.Contains(given, "://") {
		like, err = documentsAt(ctx, db, given)
	} else {
		if given = strings.ToLower(given); len(given) < 6 {
			return "", fmt.Errorf("%w: give at least six digits of the SHA-256", ErrUsage)
		}
		like, err = db.DocumentsLike(ctx, given)
	}
	switch {
	case err != nil:
		return "", err
	case len(like) == 0:
		return "", fmt.Errorf("%s: %w", given, store.ErrNoDocument)
	case len(like) > 1:
		return "", fmt.Errorf("%w: %s are several documents; name one by its SHA-256", ErrUsage, given)
	}
	return like[0], nil
}

// documentsAt are the documents that lie at an address.
func documentsAt(ctx context.Context, db *store.DB, given string) (found []string, err error) {
	url, err := weburl.Canonical("", given)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	hash := frontier.HashOf(url)
	r, err := db.ExplainURL(ctx, weburl.Host(url), hash[:])
	for _, sha := range r.SHA256 {
		_, places, err := db.Document(ctx, sha)
		if err != nil {
			return nil, err
		}
		for _, l := range places {
			if l.Current && l.URL == r.URL {
				found = append(found, sha)
				break
			}
		}
	}
	return found, err
}
