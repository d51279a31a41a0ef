package document

import (
	"errors"
	"io"
)

// errCompress is a .Z stream that breaks its own rules.
var errCompress = errors.New("bad compress stream")

// compressReader inflates Unix compress (.Z): LZW with codes of 9 to 16 bits,
// packed from the low bit, in groups of eight codes of one width. The standard
// library's compress/lzw knows neither the growing width limit of the header
// nor the padding of a group at a change of width.
type compressReader struct {
	src      []byte
	pos      int  // next byte of the current group
	bit      uint // bits used of the current group
	group    []byte
	maxBits  uint
	block    bool // code 256 clears the table
	width    uint
	next     int // next free code
	prev     int
	finch    byte
	prefix   []uint16
	suffix   []byte
	stack    []byte
	out      []byte
	finished bool
}

func newCompressReader(b []byte) (io.Reader, error) {
	if len(b) < 3 || b[0] != 0x1f || b[1] != 0x9d {
		return nil, errCompress
	}
	r := &compressReader{src: b[3:], maxBits: uint(b[2] & 0x1f), block: b[2]&0x80 != 0, width: 9, prev: -1}
	if r.maxBits < 9 || r.maxBits > 16 {
		return nil, errCompress
	}
	r.prefix = make([]uint16, 1<<r.maxBits)
	r.suffix = make([]byte, 1<<r.maxBits)
	for i := range 256 {
		r.suffix[i] = byte(i)
	}
	r.next = r.first()
	return r, nil
}

func (r *compressReader) first() int {
	if r.block {
		return 257
	}
	return 256
}

func (r *compressReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.finished {
			return 0, io.EOF
		}
		if err := r.step(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// code returns the next code, -1 at the end.
func (r *compressReader) code() int {
	if r.bit+r.width > uint(len(r.group))*8 {
		n := min(int(r.width), len(r.src)-r.pos)
		if n <= 0 {
			return -1
		}
		r.group = r.src[r.pos : r.pos+n]
		r.pos += n
		r.bit = 0
		if uint(n)*8 < r.width {
			return -1
		}
	}
	v := 0
	for i := range r.width {
		at := r.bit + i
		if r.group[at/8]&(1<<(at%8)) != 0 {
			v |= 1 << i
		}
	}
	r.bit += r.width
	return v
}

// newGroup drops the padding that follows a change of width.
func (r *compressReader) newGroup() { r.group, r.bit = nil, 0 }

func (r *compressReader) step() error {
	if r.next >= 1<<r.width && r.width < r.maxBits {
		r.width++
		r.newGroup()
	}
	c := r.code()
	switch {
	case c < 0:
		r.finished = true
		return nil
	case c == 256 && r.block:
		r.width, r.next, r.prev = 9, r.first(), -1
		r.newGroup()
		return nil
	case r.prev < 0:
		if c > 255 {
			return errCompress
		}
		r.prev, r.finch = c, byte(c)
		r.out = append(r.out[:0], byte(c))
		return nil
	case c > r.next, c >= len(r.suffix) && c != r.next:
		return errCompress
	}
	r.expand(c)
	return nil
}

// expand writes the string of a code and enters the next one in the table.
func (r *compressReader) expand(c int) {
	in := c
	r.stack = r.stack[:0]
	if c == r.next { // the string is the one being defined: previous + its first byte
		r.stack = append(r.stack, r.finch)
		c = r.prev
	}
	for c > 255 {
		r.stack = append(r.stack, r.suffix[c])
		c = int(r.prefix[c])
	}
	r.finch = byte(c)
	r.stack = append(r.stack, r.finch)
	r.out = r.out[:0]
	for i := len(r.stack) - 1; i >= 0; i-- {
		r.out = append(r.out, r.stack[i])
	}
	if r.next < 1<<r.maxBits {
		r.prefix[r.next], r.suffix[r.next] = uint16(r.prev), r.finch
		r.next++
	}
	r.prev = in
}
