package archive

import (
	"bufio"
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

// to is the number of bytes from p to a later position: of the file or, in one
// member, unpacked.
func (p Position) to(q Position) int64 {
	if p.Offset != q.Offset {
		return q.Offset - p.Offset
	}
	return q.Skip - p.Skip
}

// Source opens an archive at a byte. A Reader opens it again to look for the next
// record where one is damaged. While it unpacks it reads nothing of the file again and again,
// whose error then ends it.
type Source func(offset int64) (io.ReadCloser, error)

// Passer is a file of a Source for which opening it at a byte costs more than that.
type Passer interface {
	Passed() int64 // bytes that were read, or are asked for at least
}

// Once is an archive that can be read only once, from its beginning.
func Once(r io.Reader) Source {
	return func(int64) (io.ReadCloser, error) {
		if r == nil {
			return nil, errOnce
		}
		once := io.NopCloser(r)
		r = nil
		return once, nil
	}
}

var (
	errOnce = errors.New("an archive that can be read only once")
	errDear = errors.New("too much of the archive was read again")

	errTooMuch = fmt.Errorf("it unpacks to more than %d times its bytes", mostUnpacked)
)

const (
	// window is how much of an archive is held at a time, packed and unpacked each.
	window = 64 << 10
	// An archive is read again, in all, up to againFactor times the bytes that were
	// read of it, and againFree more. So a damaged archive costs linear time.
	againFactor = 4
	againFree   = 16 << 20
	// An archive may unpack to mostUnpacked times the bytes that were read of it, and againFree more.
	mostUnpacked = 2000
)

// stream is an archive unpacked: a buffer over its members.
type stream struct {
	open    Source
	file    io.Closer
	src     *bufio.Reader
	from    *counter
	packing packing
	member  member // nil: not compressed
	dict    []byte // of zstd
	begun   []begun
	at      int64 // unpacked bytes before the buffer
	room    []byte
	r, w    int   // the buffer is room[r:w]
	err     error // what comes behind the buffer; nil where more may come
	search  int64 // byte of the file from which the next member is searched after err
	ended   int64 // byte behind a member whose checksum is wrong; 0 where err is another
	size    int64 // unpacked bytes of it
	damaged int64 // byte of the file at which the last damaged member begins; -1 for none
	taken   int64 // byte of the file at which the member of the last taken byte begins
	between bool  // err is of what comes behind a member

	first        int64 // byte of the file at which it was begun to be read
	total, again int64 // bytes unpacked, and those of them that were unpacked before
}

// begun is a member that was begun: at which unpacked byte, and where in the file.
type begun struct{ at, start int64 }

// counter counts what is read of the file, and keeps its error.
type counter struct {
	r     io.Reader
	n     int64
	limit int64 // bytes of the file that are read; 0 for all
	err   error // of the file, and not its end
}

func (c *counter) Read(p []byte) (int, error) {
	if c.limit > 0 && c.n >= c.limit {
		return 0, io.EOF
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// newStream opens an archive at a position. Without a packing it is found out.
func newStream(open Source, at Position, kind packing, dict []byte) (*stream, error) {
	s := &stream{open: open, packing: kind, dict: dict, room: make([]byte, window), damaged: -1, first: at.Offset}
	if err := s.openAt(at.Offset, 0); err != nil {
		return nil, err
	}
	if kind == unknown {
		magic, _ := s.src.Peek(4)
		s.packing = packingOf(magic)
	}
	return s, s.start(at)
}

// openAt opens the file at a byte, to read up to limit; 0 is no limit.
func (s *stream) openAt(offset, limit int64) error {
	file, err := s.open(offset)
	if err != nil {
		return err
	}
	if p, is := file.(Passer); is && s.src != nil {
		n := p.Passed()
		s.total, s.again = s.total+n, s.again+n
	}
	s.closeFile()
	s.file, s.from = file, &counter{r: file, n: offset, limit: limit}
	if s.src == nil {
		s.src = bufio.NewReaderSize(s.from, window)
	}
	s.src.Reset(s.from)
	s.r, s.w, s.err, s.between, s.ended = 0, 0, nil, false, 0
	s.begun = []begun{{s.at, offset}}
	return nil
}

// start begins to unpack at a position, at whose offset the file was opened.
func (s *stream) start(at Position) (err error) {
	if s.packing == plain {
		s.member = nil
		return nil
	}
	if s.member == nil {
		s.member = s.packing.members(s)
	}
	s.begun = nil
	s.err = s.begin()
	for left := at.Skip; left > 0; {
		if s.w == s.r {
			s.more()
		}
		n := min(left, int64(s.w-s.r))
		if n == 0 {
			return fmt.Errorf("archive: %d bytes into the member at %d of %d: %w", at.Skip-left, at.Offset, at.Skip, whole(s.err))
		}
		s.take(int(n))
		left -= n
	}
	return nil
}

// rewind goes back to a position, from which cost bytes were unpacked since.
func (s *stream) rewind(to Position, cost int64) error {
	if !s.mayRead(max(cost+to.Skip, window)) {
		return errDear
	}
	if err := s.openAt(to.Offset, s.from.limit); err != nil {
		return err
	}
	return s.start(to)
}

// mayRead reports whether so many bytes may be read again, and counts them.
func (s *stream) mayRead(cost int64) bool {
	if s.again+cost > againFactor*max(s.total-s.again, 0)+againFree {
		return false
	}
	s.again += cost
	return true
}

func (s *stream) closeFile() {
	if s.file != nil {
		_ = s.file.Close()
		s.file = nil
	}
}

// close lets go of what decoders hold, and of the file.
func (s *stream) close() {
	s.closeFile()
	if c, ok := s.member.(io.Closer); ok {
		_ = c.Close()
	}
}

// offset is the byte of the file that is unpacked next.
func (s *stream) offset() int64 { return s.from.n - int64(s.src.Buffered()) }

// position is where the next byte is.
func (s *stream) position() Position {
	if len(s.begun) == 0 {
		return Position{Offset: s.offset()}
	}
	m := s.begun[0]
	if s.packing == plain {
		return Position{Offset: m.start + s.at - m.at}
	}
	return Position{Offset: m.start, Skip: s.at - m.at}
}

// buf is what was unpacked and not taken.
func (s *stream) buf() []byte { return s.room[s.r:s.w] }

// failed is the error of the file itself; nil where only its contents are wrong.
func (s *stream) failed() error { return s.from.err }

// begin begins the next member.
func (s *stream) begin() error {
	for { // padding
		b, err := s.src.Peek(1)
		if len(b) == 0 {
			return err
		}
		if b[0] != 0 {
			break
		}
		_, _ = s.src.Discard(1)
	}
	start := s.offset()
	s.search, s.between = start, true
	magic, _ := s.src.Peek(4)
	if packingOf(magic) != s.packing {
		return fmt.Errorf("no %s begins at byte %d", s.packing, start)
	}
	s.search = start + 1
	if n := len(s.begun); n > 0 && start == s.begun[n-1].start {
		return io.ErrUnexpectedEOF // a decoder took nothing of it and called that its end
	}
	if err := s.member.next(); err != nil {
		return err
	}
	if z, ok := s.member.(*zstdMembers); ok {
		start = z.start // skippable frames before it are none of its own
	}
	at, n := s.at+int64(s.w-s.r), len(s.begun)
	switch {
	case s.r == s.w: // nothing is left of those before
		s.begun = nil
	case n > 0 && s.begun[n-1].at == at: // the last one was empty
		s.begun = s.begun[:n-1]
	}
	s.begun, s.between = append(s.begun, begun{at, start}), false
	return nil
}

// tooMuch reports whether an archive has unpacked to more than its bytes can hold of anything but
// one byte again and again: the time that an archive takes grows with its size alone.
func (s *stream) tooMuch() bool {
	return s.member != nil && len(s.begun) > 0 && s.total-s.again > mostUnpacked*(s.offset()-s.first)+againFree
}

// more unpacks more into the buffer, or sets err. The buffer grows where it is full.
func (s *stream) more() {
	if s.w == len(s.room) {
		if s.r == 0 {
			s.room = append(s.room, make([]byte, len(s.room))...)
		}
		s.w = copy(s.room, s.buf())
		s.r = 0
	}
	for s.err == nil {
		var from io.Reader = s.src
		if s.member != nil {
			from = s.member
			// What was read of the file may unpack for long, and its source may be over.
			if _, over := s.from.Read(nil); over != nil && over != io.EOF {
				s.err = over
				return
			}
		}
		n, err := from.Read(s.room[s.w:])
		s.w, s.total = s.w+n, s.total+int64(n)
		switch {
		case err == nil && s.tooMuch():
			s.err, s.between, s.damaged = errTooMuch, false, s.begun[len(s.begun)-1].start
		case err == nil:
		case err == io.EOF && s.member != nil:
			if n == 0 { // else the next read says so again
				s.err = s.begin()
			}
		case s.member != nil:
			s.err, s.between = whole(err), s.begun[len(s.begun)-1].at == s.at+int64(s.w-s.r)
			if !s.between {
				s.damaged = s.begun[len(s.begun)-1].start
			}
			if errors.Is(err, gzip.ErrChecksum) {
				s.ended, s.size = s.offset(), s.at+int64(s.w-s.r)-s.begun[len(s.begun)-1].at
			}
		default:
			s.err = err
		}
		if n > 0 {
			return
		}
	}
}

// peek makes the buffer hold n bytes, or all that come.
func (s *stream) peek(n int) []byte {
	for s.w-s.r < n && s.err == nil {
		s.more()
	}
	return s.buf()
}

func (s *stream) take(n int) {
	s.r, s.at = s.r+n, s.at+int64(n)
	if s.r == s.w {
		s.r, s.w = 0, 0
	}
	for len(s.begun) > 1 && s.begun[1].at < s.at {
		s.begun = s.begun[1:]
	}
	if len(s.begun) > 0 {
		s.taken = s.begun[0].start
	}
	for len(s.begun) > 1 && s.begun[1].at == s.at {
		s.begun = s.begun[1:]
	}
}

// edge is how many bytes of the buffer are of the member that its first byte is of.
func (s *stream) edge() int {
	if len(s.begun) > 1 {
		return int(s.begun[1].at - s.at)
	}
	return s.w - s.r
}

// blanks passes over empty lines and zeros.
func (s *stream) blanks() {
	for {
		b := s.peek(1)
		if len(b) == 0 {
			return
		}
		i := 0
		for i < len(b) && (b[i] == '\r' || b[i] == '\n' || b[i] == ' ' || b[i] == 0) {
			i++
		}
		s.take(i)
		if i < len(b) {
			return
		}
	}
}

// whole makes an end in the middle of something what it is.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
