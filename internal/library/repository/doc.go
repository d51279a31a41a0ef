// Package repository stores documents by content: the name of a document is the SHA-256 of its
// bytes. Sidecars hold its text and metadata. The store is a folder (file://, the default), a
// bucket (s3://) or memory (mem://, for tests), through gocloud.dev/blob.
//
// When Put returns, the document is stored completely and durably; before, it does not exist. In
// a folder this takes a temporary file, fsync, rename, and fsync of the folder. Repeated and
// concurrent Puts of the same bytes, also by several processes, equal one. On a full disk Put
// returns ErrFull and leaves no partial file.
//
// The package also exports documents for other programs: in CiteSeerX's layout, as a tree with
// readable names by venue and year, and as WARC.
package repository
