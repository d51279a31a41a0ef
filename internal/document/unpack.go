package document

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Limits bound what Unpack makes of one file.
type Limits struct {
	Member    int64 // bytes of one member; 0 means 64 MiB
	Total     int64 // bytes of all members; 0 means 256 MiB
	Members   int   // members looked at; 0 means 1,000
	Documents int   // members that are documents, each to be stored and examined; 0 means 300
	Depth     int   // archives within archives; 0 means 4
}

func (l Limits) withDefaults() Limits {
	l.Member, l.Total = cmp.Or(l.Member, 64<<20), cmp.Or(l.Total, 256<<20)
	l.Members, l.Documents, l.Depth = cmp.Or(l.Members, 1000), cmp.Or(l.Documents, 300), cmp.Or(l.Depth, 4)
	return l
}

// Part is one file after unpacking.
type Part struct {
	Name      string // of the file, or of the member with the archive's name before it: "a.zip/b.pdf"
	MediaType string // as the server said; "" for a member
	Kind      Kind
	Body      []byte
}

// UnpackError is an archive that could not be opened, or not to its end. What
// was read before is returned beside it.
type UnpackError struct {
	Name    string  // the file or member
	Outcome Outcome // too-large, truncated or unreadable
	Err     error
}

func (e *UnpackError) Error() string {
	return fmt.Sprintf("unpack %s: %s: %v", e.Name, e.Outcome, e.Err)
}

func (e *UnpackError) Unwrap() error { return e.Err }

// errLimit is the cause of an UnpackError where a limit of Limits was met.
var errLimit = errors.New("limit on unpacking met")

// Unpack opens gzip, compress (.Z), bzip2, zip and tar, one in another, and
// returns the documents found, in their order. A file that is not packed comes
// back as its own single part, whatever its kind. Members that cannot be papers
// (images, styles, hidden files) are left out. The error is an *UnpackError;
// parts read before it are returned with it. Or it is the cause of the end of ctx.
func Unpack(ctx context.Context, name, mediaType string, body []byte, lim Limits) ([]Part, error) {
	u := newUnpacker(ctx, body, lim)
	kind := Sniff(name, mediaType, body)
	if !kind.IsPacked() {
		return []Part{{Name: name, MediaType: mediaType, Kind: kind, Body: body}}, nil
	}
	err := u.open(name, kind, body, 1)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return u.parts, err
}

// Unpacked is how many bytes Unpack makes of a file at most: of one that is not
// packed none, since it is its own part.
func Unpacked(name, mediaType string, body []byte, lim Limits) int64 {
	if !Sniff(name, mediaType, body).IsPacked() {
		return 0
	}
	return lim.withDefaults().total(len(body))
}

// total bounds what becomes of a file of so many bytes. A paper grows tenfold or
// twentyfold. A file that grows a thousandfold was made to fill a disk, and many
// small ones of that kind do.
func (l Limits) total(size int) int64 { return min(l.Total, max(anyFile, unpackedRatio*int64(size))) }

const (
	anyFile       = 16 << 20 // bytes that any packed file may become, however small it is
	unpackedRatio = 100      // bytes of all members for each of a larger file's
)

type unpacker struct {
	ctx     context.Context
	lim     Limits
	total   int64
	members int
	parts   []Part
}

func newUnpacker(ctx context.Context, body []byte, lim Limits) *unpacker {
	lim = lim.withDefaults()
	lim.Total = lim.total(len(body))
	return &unpacker{ctx: ctx, lim: lim}
}

// packed is a file that is read until ctx ends: much of it may unpack to nothing.
type packed struct {
	ctx context.Context
	in  *bytes.Reader
}

func (u *unpacker) packed(body []byte) packed { return packed{u.ctx, bytes.NewReader(body)} }

func (p packed) Read(b []byte) (int, error) {
	if p.ctx.Err() != nil {
		return 0, context.Cause(p.ctx)
	}
	return p.in.Read(b)
}

func (p packed) ReadAt(b []byte, at int64) (int, error) {
	if p.ctx.Err() != nil {
		return 0, context.Cause(p.ctx)
	}
	return p.in.ReadAt(b, at)
}

// add takes one unpacked member: an archive is opened, a document kept.
func (u *unpacker) add(name string, body []byte, depth int) error {
	kind := Sniff(name, "", body)
	if kind.IsPacked() {
		return u.open(name, kind, body, depth+1)
	}
	if kind.IsDocument() && kind != XML { // in an archive that is data
		if len(u.parts) >= u.lim.Documents {
			return &UnpackError{name, TooLarge, fmt.Errorf("%w: more than %d documents", errLimit, u.lim.Documents)}
		}
		u.parts = append(u.parts, Part{Name: name, Kind: kind, Body: body})
	}
	return nil
}

func (u *unpacker) open(name string, kind Kind, body []byte, depth int) error {
	if depth > u.lim.Depth {
		return &UnpackError{name, TooLarge, fmt.Errorf("%w: archives nested deeper than %d", errLimit, u.lim.Depth)}
	}
	switch kind {
	case Gzip:
		r, err := gzip.NewReader(u.packed(body))
		if err != nil {
			return unpackError(name, err)
		}
		return u.single(name, ".gz", r, depth)
	case Compress:
		r, err := newCompressReader(body)
		if err != nil {
			return unpackError(name, err)
		}
		return u.single(name, ".Z", r, depth)
	case Bzip2:
		return u.single(name, ".bz2", bzip2.NewReader(u.packed(body)), depth)
	case Zip:
		return u.zip(name, body, depth)
	default:
		return u.tar(name, body, depth)
	}
}

// single inflates a format that holds one file. Its name loses the suffix, so
// that "paper.ps.gz" becomes "paper.ps".
func (u *unpacker) single(name, suffix string, r io.Reader, depth int) error {
	inner, ok := strings.CutSuffix(name, suffix)
	if !ok {
		inner, ok = strings.CutSuffix(name, strings.ToLower(suffix))
	}
	if base, tgz := strings.CutSuffix(name, ".tgz"); tgz && !ok {
		inner = base + ".tar"
	}
	body, err := u.read(inner, r)
	if err != nil {
		return err
	}
	// A single compressed file is what the name promised: it is kept whatever
	// its kind, so that the reader can say what is wrong with it.
	before := len(u.parts)
	if err := u.add(inner, body, depth); err != nil {
		return err
	}
	if len(u.parts) == before && depth == 1 {
		if k := Sniff(inner, "", body); !k.IsPacked() {
			u.parts = append(u.parts, Part{Name: inner, Kind: k, Body: body})
		}
	}
	return nil
}

// zipEntry begins each entry of a zip's list of contents, which may hold listed
// times as many, with folders and what no paper is, as members are looked at.
const (
	zipEntry = "PK\x01\x02"
	listed   = 10
)

// openZip reads a list of contents. Each of its entries takes memory before the first is
// looked at, and entries that share bytes have them unpacked again and again.
func (u *unpacker) openZip(name string, body []byte) (*zip.Reader, error) {
	if most := listed * u.lim.Members; bytes.Count(body, []byte(zipEntry)) > most {
		return nil, &UnpackError{name, TooLarge, fmt.Errorf("%w: a list of more than %d entries", errLimit, most)}
	}
	z, err := zip.NewReader(u.packed(body), int64(len(body)))
	if err != nil {
		return nil, unpackError(name, err)
	}
	left := uint64(len(body))
	for _, f := range z.File {
		if f.CompressedSize64 > left {
			return nil, &UnpackError{name, TooLarge, fmt.Errorf("%w: its members are longer than it is", errLimit)}
		}
		left -= f.CompressedSize64
	}
	return z, nil
}

func (u *unpacker) zip(name string, body []byte, depth int) error {
	z, err := u.openZip(name, body)
	if err != nil {
		return err
	}
	var first error
	for _, f := range z.File {
		if f.FileInfo().IsDir() || unwantedMember(f.Name) {
			continue
		}
		err := u.zipMember(name, f, depth)
		if errors.Is(err, errLimit) {
			return err
		}
		if err != nil && first == nil {
			first = err // one bad member does not cost the others
		}
	}
	return first
}

func (u *unpacker) zipMember(name string, f *zip.File, depth int) error {
	inner := name + "/" + path.Clean(f.Name)
	r, err := f.Open()
	if err != nil {
		return unpackError(inner, err)
	}
	defer r.Close()
	return u.member(inner, r, depth)
}

func (u *unpacker) member(name string, r io.Reader, depth int) error {
	body, err := u.read(name, r)
	if err != nil {
		return err
	}
	return u.add(name, body, depth)
}

func (u *unpacker) tar(name string, body []byte, depth int) error {
	t := tar.NewReader(u.packed(body))
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return unpackError(name, err)
		}
		if h.Typeflag != tar.TypeReg || unwantedMember(h.Name) {
			continue
		}
		if err := u.member(name+"/"+path.Clean(h.Name), t, depth); err != nil {
			return err
		}
	}
}

// unwantedMember skips what file managers leave behind in archives.
func unwantedMember(name string) bool {
	return strings.HasPrefix(path.Base(name), ".") || strings.Contains(name, "__MACOSX/")
}

// read inflates one member within the limits.
func (u *unpacker) read(name string, r io.Reader) ([]byte, error) {
	u.members++
	if u.members > u.lim.Members {
		return nil, &UnpackError{name, TooLarge, fmt.Errorf("%w: more than %d members", errLimit, u.lim.Members)}
	}
	most := min(u.lim.Member, u.lim.Total-u.total)
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	u.total += int64(len(b)) // of a broken member, too
	if int64(len(b)) > most {
		return nil, &UnpackError{name, TooLarge, fmt.Errorf("%w: more than %d bytes", errLimit, most)}
	}
	if err != nil {
		return nil, unpackError(name, err)
	}
	return b, nil
}

func unpackError(name string, err error) error {
	o := Unreadable
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		o = Truncated
	}
	return &UnpackError{name, o, err}
}
