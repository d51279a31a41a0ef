// Package repository keeps documents by what they are: the name of a document is
// the SHA-256 of its bytes. Beside each lie sidecars, its text and whatever was
// found out about it. The store is a folder (file://, the default), a bucket
// (s3://) or memory (mem://, for tests), through gocloud.dev/blob.
//
// What it promises: when Put returns, the document is there whole and stays
// there; before that it is not there at all. In a folder that means a temporary
// file, fsync, rename, fsync of the folder. Putting the same bytes twice, also at
// once from several processes, is the same as putting them once. A disk that is
// full is ErrFull, and leaves nothing half written.
//
// The same package writes documents out for other programs: in CiteSeerX's
// layout, as a tree with readable names by venue and year, and as WARC.
package repository
