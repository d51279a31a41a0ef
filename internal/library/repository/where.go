package repository

import "strings"

// Where is the address of a document's blob, whole: a path of the file system
// for a folder, else a URL.
func (r *Repository) Where(sha256 string) string {
	base, _, _ := strings.Cut(r.url, "?") // a bucket's options are no part of an object's address
	return strings.TrimSuffix(strings.TrimPrefix(base, "file://"), "/") + "/" + Path(sha256)
}
