package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// Position is where a record begins: in the compressed member that starts at
// Offset of the file, after Skip bytes of what it unpacks to. In a file that is
// not compressed Skip is 0.
type Position struct {
	Offset int64 `json:"offset"`
	Skip   int64 `json:"skip,omitempty"`
}

// String gives the byte of the file, and how many unpacked ones are between.
func (p Position) String() string {
	if p.Skip == 0 {
		return fmt.Sprintf("byte %d", p.Offset)
	}
	return fmt.Sprintf("byte %d, %d bytes unpacked", p.Offset, p.Skip)
}

// window is how much of an archive is held at a time, packed and unpacked each.
const window = 64 << 10

// member reads one compressed member after the other from an archive.
type member interface {
	io.Reader
	next() error // begins the next member; io.EOF where there is none
}

// stream is an archive unpacked. It holds bytes of one member at a time, so that it
// can say in which it is.
type stream struct {
	src    *counted
	member member // nil: not compressed
	start  int64  // of the member that buf is of
	begun  bool
	passed int64  // bytes of that member before buf
	buf    []byte // read and not taken
	room   []byte
	err    error

	within bool // what is read is the block of a record
	cut    bool // another record begins with a member here, and that block ends
}

// counted is a buffered reader that knows how far it is.
type counted struct {
	*bufio.Reader
	from *counter
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counted) offset() int64 { return c.from.n - int64(c.Buffered()) }

// newStream reads r, which begins at at.Offset of its file.
func newStream(r io.Reader, at Position, dict []byte) (*stream, error) {
	from := &counter{r: r, n: at.Offset}
	s := &stream{src: &counted{bufio.NewReaderSize(from, window), from}, room: make([]byte, window), start: at.Offset}
	magic, _ := s.src.Peek(4)
	switch {
	case isGzip(magic):
		s.member = &gzipMembers{src: s.src}
	case isZstd(magic):
		z, err := newZstdMembers(s.src, dict)
		if err != nil {
			return nil, err
		}
		s.member = z
	}
	if s.member != nil {
		if err := s.begin(); err != nil {
			s.err = err
		}
	}
	if n, err := io.CopyN(io.Discard, s, at.Skip); err != nil {
		return nil, fmt.Errorf("archive: %d bytes into the member at %d of %d: %w", n, at.Offset, at.Skip, err)
	}
	return s, nil
}

// close lets go of what decoders hold.
func (s *stream) close() {
	if c, ok := s.member.(io.Closer); ok {
		_ = c.Close()
	}
}

func isGzip(b []byte) bool { return bytes.HasPrefix(b, []byte{0x1f, 0x8b}) }

// position is where the next byte is.
func (s *stream) position() Position {
	if s.member == nil {
		return Position{Offset: s.start + s.passed}
	}
	return Position{Offset: s.start, Skip: s.passed}
}

// begin begins the next member.
func (s *stream) begin() error {
	start := s.src.offset()
	if s.begun && start == s.start {
		return io.ErrUnexpectedEOF // a decoder took nothing of it and called that its end
	}
	if err := s.member.next(); err != nil {
		return err
	}
	s.start, s.passed, s.begun = start, 0, true
	if z, ok := s.member.(*zstdMembers); ok {
		s.start = z.start // skippable frames before it are none of its own
	}
	return nil
}

// ensure makes buf hold at least a byte, or err the reason why not.
func (s *stream) ensure() error {
	if s.cut {
		return io.ErrUnexpectedEOF
	}
	for len(s.buf) == 0 && s.err == nil {
		var from io.Reader = s.src
		if s.member != nil {
			from = s.member
		}
		n, err := from.Read(s.room)
		s.buf = s.room[:n]
		if errors.Is(err, io.EOF) && s.member != nil {
			err = nil
			if n == 0 {
				err = s.begin()
			}
			if n == 0 && err == nil && s.within && s.beginsRecord() {
				s.cut = true
				return io.ErrUnexpectedEOF
			}
		}
		s.err = err
	}
	if len(s.buf) > 0 {
		return nil
	}
	return s.err
}

// beginsRecord reports whether a member, of which nothing was read, begins with a record
// of a WARC file: then one that goes on behind the member before is not as long as it
// says, and would swallow this one.
func (s *stream) beginsRecord() bool {
	s.fill(len(recordHead))
	return bytes.HasPrefix(s.buf, []byte(recordHead))
}

// fill makes buf hold so many bytes, or those that come before the end of the member:
// decoders and servers give a few at a time where they like to.
func (s *stream) fill(size int) {
	var from io.Reader = s.src
	if s.member != nil {
		from = s.member
	}
	have := copy(s.room, s.buf)
	for have < size && s.err == nil {
		n, err := from.Read(s.room[have:])
		have += n
		if errors.Is(err, io.EOF) {
			break // the next read says so again
		}
		s.err = err
	}
	s.buf = s.room[:have]
}

// block says whether what is read from now on is the block of a record.
func (s *stream) block(is bool) { s.within, s.cut = is, false }

func (s *stream) take(n int) {
	s.buf = s.buf[n:]
	s.passed += int64(n)
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := s.ensure(); err != nil {
		return 0, err
	}
	n := copy(p, s.buf)
	s.take(n)
	return n, nil
}

// line reads a line without its end, of at most limit bytes.
func (s *stream) line(limit int) (string, error) {
	var line []byte
	for {
		if err := s.ensure(); err != nil {
			return string(line), err
		}
		i := bytes.IndexByte(s.buf, '\n')
		part := s.buf
		if i >= 0 {
			part = s.buf[:i]
		}
		if len(line)+len(part) > limit {
			return string(line), errLongLine
		}
		line = append(line, part...)
		if i >= 0 {
			s.take(i + 1)
			return string(bytes.TrimSuffix(line, []byte{'\r'})), nil
		}
		s.take(len(part))
	}
}

var errLongLine = errors.New("a header of more than 1 MiB")

// blanks passes over empty lines, at most limit bytes of them.
func (s *stream) blanks(limit int) error {
	for ; limit > 0; limit-- {
		if err := s.ensure(); err != nil {
			return err
		}
		if c := s.buf[0]; c != '\r' && c != '\n' && c != ' ' && c != 0 {
			return nil
		}
		s.take(1)
	}
	return errors.New("nothing but empty lines")
}

// gzipMembers reads the members of a gzip file.
type gzipMembers struct {
	src *counted
	z   *gzip.Reader
}

func (g *gzipMembers) Read(p []byte) (int, error) { return g.z.Read(p) }

func (g *gzipMembers) next() error {
	magic, err := g.src.Peek(2)
	if len(magic) == 0 && errors.Is(err, io.EOF) {
		return io.EOF
	}
	if err != nil && len(magic) < 2 {
		return whole(err)
	}
	if !isGzip(magic) {
		return fmt.Errorf("no gzip member begins at %d", g.src.offset())
	}
	if g.z == nil {
		g.z, err = gzip.NewReader(g.src)
	} else {
		err = g.z.Reset(g.src)
	}
	if err != nil {
		return whole(err)
	}
	g.z.Multistream(false)
	return nil
}

// whole makes an end in the middle of something what it is.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
