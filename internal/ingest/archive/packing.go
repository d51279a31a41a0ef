package archive

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/gzip"
)

// packing is how an archive is compressed.
type packing int

const (
	unknown packing = iota
	plain
	gzipped
	zstandard
)

// String names what such a file consists of.
func (p packing) String() string {
	return [...]string{"archive", "record", "gzip member", "zstd frame"}[p]
}

// packingOf tells the packing by the first bytes.
func packingOf(b []byte) packing {
	switch {
	case isGzip(b):
		return gzipped
	case isZstd(b):
		return zstandard
	}
	return plain
}

func isGzip(b []byte) bool { return bytes.HasPrefix(b, []byte{0x1f, 0x8b}) }

// magic begins each member.
func (p packing) magic() []byte {
	if p == gzipped {
		return []byte{0x1f, 0x8b, 8}
	}
	return []byte{0x28, 0xb5, 0x2f, 0xfd}
}

// member reads one compressed member after the other from an archive.
type member interface {
	io.Reader
	next() error // begins the next member; io.EOF where there is none
}

// members begins to read the members of a stream.
func (p packing) members(s *stream) member {
	if p == gzipped {
		return &gzipMembers{s: s}
	}
	return &zstdMembers{s: s, dict: s.dict}
}

// gzipMembers reads the members of a gzip file.
type gzipMembers struct {
	s     *stream
	z     *gzip.Reader
	trial *gzip.Reader // of what may be a member
}

func (g *gzipMembers) Read(p []byte) (int, error) { return g.z.Read(p) }

func (g *gzipMembers) next() (err error) {
	if g.z == nil {
		g.z = new(gzip.Reader)
	}
	if err = g.z.Reset(g.s.src); err != nil {
		return whole(err)
	}
	g.z.Multistream(false)
	return nil
}

// trialBytes are those of what may be a member that are tried to unpack.
const trialBytes = 1 << 10

// likely reports whether what begins like a member can be unpacked, at least its first
// bytes. Where too much was tried, all that begins so is taken for one.
func (s *stream) likely(b []byte) bool {
	g, is := s.member.(*gzipMembers)
	b = b[:min(len(b), trialBytes)]
	if !is || !s.mayRead(int64(len(b))) {
		return true
	}
	if g.trial == nil {
		g.trial = new(gzip.Reader)
	}
	if err := g.trial.Reset(bytes.NewReader(b)); err != nil {
		return false
	}
	g.trial.Multistream(false)
	var first [512]byte
	n, err := io.ReadAtLeast(g.trial, first[:], len(first))
	return n > 0 && (err == nil || err == io.ErrUnexpectedEOF)
}

// back goes back to where the next member is searched. That is within the damaged one,
// unless it has as many bytes as it says: then it ends where it should.
func (s *stream) back() error {
	limit, ended, size := s.from.limit, s.ended, s.size
	s.ended = 0
	if ended > 0 {
		if !s.mayRead(window) {
			return errDear
		}
		if err := s.openAt(ended-4, limit); err != nil {
			return err
		}
		if b, _ := s.src.Peek(4); len(b) == 4 && binary.LittleEndian.Uint32(b) == uint32(size) {
			s.search = ended
			return nil
		}
	}
	if s.search >= s.offset() {
		return nil
	}
	if !s.mayRead(max(s.offset()-s.search, window)) {
		return errDear
	}
	return s.openAt(s.search, limit)
}

// nextMember goes to the next member behind a damaged one: to its magic, with bytes
// behind it that can be unpacked. The error is io.EOF where there is none.
func (s *stream) nextMember() error {
	if err := s.back(); err != nil && !forward(err) {
		return err
	}
	_, _ = s.src.Discard(int(max(s.search-s.offset(), 0))) // a few bytes
	s.r, s.w, s.err, s.between, s.begun = 0, 0, nil, false, nil
	for {
		var err error
		if s.src.Buffered() < trialBytes { // else it would move the buffer for each magic
			_, err = s.src.Peek(window)
		}
		b, _ := s.src.Peek(s.src.Buffered())
		i := bytes.Index(b, s.packing.magic())
		switch {
		case i > 0:
			_, _ = s.src.Discard(i)
		case i == 0 && !s.likely(b):
			_, _ = s.src.Discard(1)
		case i == 0:
			if s.begin() == nil {
				return nil
			}
		case s.failed() != nil:
			return s.failed()
		case err != nil:
			_, _ = s.src.Discard(len(b))
			s.err = io.EOF
			return io.EOF
		default:
			_, _ = s.src.Discard(len(b) - 3)
		}
	}
}
