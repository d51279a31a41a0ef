// Package archive reads what crawlers write: WARC 0.17 to 1.1 (ISO 28500) and ARC
// of versions 1 and 2, plain, gzip or zstd, record by record and in constant memory.
//
// [New] reads from a stream, from its beginning or from a [Position] that a record
// had; [Reader.Next] gives the records in turn, each with the bytes of its block,
// and [Record.Payload] takes an HTTP answer apart: chunks and content codings are
// undone where they are there, and left alone where a header claims them wrongly.
// A record's length counts, not the compressed member it is in: some writers end a
// member within a record, some have one member for the whole file.
//
// What is cut off or damaged is a [Damage], which says where; all records before it
// were given. Lengths are never believed: nothing is allocated by them, a header is
// at most 1 MiB, and a block is passed over without being held.
//
// The reader is our own. Of the libraries for Go, internetarchive/gowarc v0.8.101
// read neither ARC files nor archives whose members end within a record (it gave no
// record and no error), found the end of a record only where its member ends, and
// tells no position to go on from; nlnwa/gowarc cannot be had from the module proxy.
package archive
