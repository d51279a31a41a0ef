package document

import (
	"errors"
	"io"
	"slices"
)

// errCompress is a .Z stream that breaks its own rules.
var errCompress = errors.New("bad compress stream")

// compressReader inflates Unix compress (.Z): LZW with codes of 9 to 16 bits,
// packed from the low bit, in groups of eight codes of one width. The standard
// library's compress/lzw knows neither the growing width limit of the header
// nor the padding of a group at a change of width.
type compressReader struct {
	src         []byte
	start, read int // byte at which the codes of this width begin, and how many of them were read
	width       int // bits of a code
	maxWidth    int
	first, next int // code of the first string in the table, and of the next
	prev        int // the last code, or -1
	letter      byte
	prefix      []uint16 // of each string, the code of all but its last byte,
	suffix      []byte   // and that byte
	text, out   []byte   // the string of the last code, and what is left of it to be read
}

func newCompressReader(b []byte) (io.Reader, error) {
	if len(b) < 3 || b[0] != 0x1f || b[1] != 0x9d {
		return nil, errCompress
	}
	r := &compressReader{src: b[3:], maxWidth: int(b[2] & 0x1f), first: 256, width: 9, prev: -1}
	if r.maxWidth < 9 || r.maxWidth > 16 {
		return nil, errCompress
	}
	if b[2]&0x80 != 0 { // code 256 clears the table
		r.first = 257
	}
	r.next = r.first
	r.prefix, r.suffix = make([]uint16, 1<<r.maxWidth), make([]byte, 1<<r.maxWidth)
	return r, nil
}

func (r *compressReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if err := r.step(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// widen begins codes of another width, behind the padding of the last group.
func (r *compressReader) widen(width int) {
	r.start, r.read, r.width = r.start+(r.read+7)/8*r.width, 0, width
}

// step reads a code.
func (r *compressReader) step() error {
	if r.next >= 1<<r.width && r.width < r.maxWidth {
		r.widen(r.width + 1)
	}
	bit := 8*r.start + r.read*r.width
	if bit+r.width > 8*len(r.src) {
		return io.EOF
	}
	c := 0
	for i := range r.width {
		c |= int(r.src[(bit+i)/8]>>((bit+i)%8)&1) << i
	}
	r.read++
	switch {
	case c == 256 && r.first == 257:
		r.widen(9)
		r.next, r.prev = r.first, -1
	case r.prev < 0 && c > 255, c > r.next:
		return errCompress
	default:
		r.expand(c)
	}
	return nil
}

// expand writes the string of a code, and enters the next one in the table.
func (r *compressReader) expand(code int) {
	c := code
	r.text = r.text[:0] // from its end
	if c == r.next {    // the string that is being defined: the last one and its first byte
		r.text = append(r.text, r.letter)
		c = r.prev
	}
	for ; c > 255; c = int(r.prefix[c]) {
		r.text = append(r.text, r.suffix[c])
	}
	r.letter = byte(c)
	r.text = append(r.text, r.letter)
	slices.Reverse(r.text)
	r.out = r.text
	if r.prev >= 0 && r.next < len(r.suffix) {
		r.prefix[r.next], r.suffix[r.next] = uint16(r.prev), r.letter
		r.next++
	}
	r.prev = code
}
