package archive

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	zstdMagic = 0xfd2fb528
	// dictMagic begins the frame that holds the dictionary of a .warc.zst file
	// (IIPC, "WARC Zstandard Compression", section 3).
	dictMagic = 0x184d2a5d
	// maxDict bounds a dictionary, maxWindow what a frame may ask to be held.
	maxDict   = 16 << 20
	maxWindow = 128 << 20
)

func isZstd(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	m := binary.LittleEndian.Uint32(b)
	return m == zstdMagic || skippable(m)
}

func skippable(magic uint32) bool { return magic&^0xf == 0x184d2a50 }

// zstdMembers reads the frames of a zstd file, one at a time: a decoder left to
// itself reads on, and nobody knows in which frame it is.
type zstdMembers struct {
	s     *stream
	dict  []byte // nil until the first frame; empty where there is none
	z     *zstd.Decoder
	start int64 // of the frame
}

func (m *zstdMembers) open() (err error) {
	o := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow)}
	if len(m.dict) > 0 {
		o = append(o, zstd.WithDecoderDicts(m.dict))
	}
	m.z, err = zstd.NewReader(nil, o...)
	return err
}

func (m *zstdMembers) Close() error {
	if m.z != nil {
		m.z.Close()
	}
	return nil
}

func (m *zstdMembers) Read(p []byte) (int, error) { return m.z.Read(p) }

func (m *zstdMembers) next() error {
	for {
		head, err := m.s.src.Peek(4)
		if len(head) == 0 && errors.Is(err, io.EOF) {
			return io.EOF
		}
		if len(head) < 4 {
			return whole(err)
		}
		magic := binary.LittleEndian.Uint32(head)
		if skippable(magic) {
			if err := m.skip(magic); err != nil {
				return whole(err)
			}
			continue
		}
		if magic != zstdMagic {
			return fmt.Errorf("no zstd frame begins at %d", m.s.offset())
		}
		if m.z == nil {
			if err := m.open(); err != nil {
				return err
			}
			if m.dict == nil {
				m.dict = []byte{} // one that comes later holds for nothing
			}
		}
		m.start = m.s.offset()
		return m.z.Reset(&frame{src: m.s.src})
	}
}

// skip passes over a skippable frame; the first of a file may be its dictionary.
func (m *zstdMembers) skip(magic uint32) error {
	var head [8]byte
	if _, err := io.ReadFull(m.s.src, head[:]); err != nil {
		return err
	}
	size := int64(binary.LittleEndian.Uint32(head[4:]))
	if magic != dictMagic || m.dict != nil || size > maxDict {
		_, err := io.CopyN(io.Discard, m.s.src, size)
		return err
	}
	dict, err := io.ReadAll(io.LimitReader(m.s.src, size))
	if err != nil || int64(len(dict)) < size {
		return io.ErrUnexpectedEOF
	}
	if len(dict) >= 4 && binary.LittleEndian.Uint32(dict) == zstdMagic { // it may be compressed itself
		z, err := zstd.NewReader(bytes.NewReader(dict), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDict), zstd.WithDecoderMaxWindow(maxDict))
		if err != nil {
			return err
		}
		defer z.Close()
		if dict, err = io.ReadAll(io.LimitReader(z, maxDict)); err != nil {
			return err
		}
	}
	m.dict = dict
	return nil
}

// frame reads the bytes of one zstd frame (RFC 8878, section 3.1.1) and no more.
type frame struct {
	src  *bufio.Reader
	left int64 // of the part that is being read
	last bool  // the part is the frame's last
	sum  bool  // a checksum follows the last block
	part int   // 0 header, 1 blocks, 2 checksum, 3 end
}

func (f *frame) Read(p []byte) (int, error) {
	for f.left == 0 {
		if err := f.more(); err != nil {
			return 0, err
		}
	}
	n, err := f.src.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	if n == 0 && errors.Is(err, io.EOF) {
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// more finds how long the next part is.
func (f *frame) more() error {
	switch {
	case f.part == 0:
		head, err := f.src.Peek(5)
		if err != nil {
			return whole(err)
		}
		d := head[4]
		single := d>>5&1 == 1
		f.sum, f.part = d>>2&1 == 1, 1
		f.left = 5 + []int64{0, 1, 2, 4}[d&3] + []int64{0, 2, 4, 8}[d>>6]
		if single && d>>6 == 0 {
			f.left++
		}
		if !single {
			f.left++ // window descriptor
		}
	case f.part == 1 && f.last:
		f.part = 2
		if f.sum {
			f.left = 4
		}
	case f.part == 1:
		head, err := f.src.Peek(3)
		if err != nil {
			return whole(err)
		}
		h := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
		f.last, f.left = h&1 == 1, 3+int64(h>>3)
		if h>>1&3 == 1 { // one byte, repeated
			f.left = 4
		}
	default:
		return io.EOF
	}
	return nil
}
