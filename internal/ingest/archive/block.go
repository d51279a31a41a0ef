package archive

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// Errors of a record whose bytes are not what the archive says.
var (
	// ErrDamaged marks one of which something is wrong; one that is cut off has
	// io.ErrUnexpectedEOF.
	ErrDamaged = errors.New("damaged")
	// ErrDigest marks a block or payload whose digest is not the one that is recorded.
	ErrDigest = errors.New("its digest is wrong")
	errLong   = errors.New("it says to be longer than it is")
)

// blockState is how far the block of a record was read.
type blockState struct {
	of    *Reader
	left  int64    // bytes of the block
	start int64    // unpacked byte at which it begins
	body  Position // likewise
	sum   *sum     // of the block; nil where the record has no digest of it
	cut   bool     // another record begins with a member within the block
	over  bool     // end was called
	err   error    // why the block is not what it should be, once it is over
}

// begin begins to read the block of a record.
func (r *Record) begin(a *Reader) {
	s := a.in
	r.blockState = blockState{of: a, left: r.Length, start: s.at, body: s.position(), sum: newSum(r.Header.Get("WARC-Block-Digest"))}
	r.Block = (*block)(r)
}

// block reads the block of a record.
type block Record

func (b *block) Read(p []byte) (int, error) {
	r := (*Record)(b)
	if len(p) == 0 {
		return 0, nil
	}
	part, err := r.next(int64(len(p)))
	return copy(p, part), err
}

// next takes at most so many bytes of the block.
func (r *Record) next(most int64) ([]byte, error) {
	s := r.of.in
	switch {
	case r.left == 0:
		return nil, io.EOF
	case r.over || r.cut:
		return nil, io.ErrUnexpectedEOF
	}
	if len(s.peek(1)) == 0 {
		if s.err == io.EOF {
			return nil, io.ErrUnexpectedEOF
		}
		return nil, s.err
	}
	if s.begun[0].at == s.at && s.at > r.start && r.of.next() == nil {
		r.cut = true
		return nil, io.ErrUnexpectedEOF
	}
	n := min(most, r.left, int64(s.edge()))
	part := s.buf()[:n]
	r.sum.add(part)
	s.take(int(n))
	r.left -= n
	return part, nil
}

// Cut reports whether the block, read to its end, was shorter than its record said.
func (r *Record) Cut() bool { return r.left > 0 }

// whole passes over what is left of the block, and returns why the record is not what
// the archive says: it is cut off, a checksum is wrong, or its length.
func (r *Record) whole() error {
	r.of.end()
	if r.err == nil || errors.Is(r.err, io.ErrUnexpectedEOF) {
		return r.err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, r.err)
}

// end ends the last record: it passes over what is left of its block, and looks at
// what follows.
func (a *Reader) end() {
	r := a.last
	if r == nil || r.over {
		return
	}
	var err error
	for r.left > 0 && err == nil {
		_, err = r.next(math.MaxInt64)
	}
	r.over = true
	switch {
	case r.cut:
		r.err = io.ErrUnexpectedEOF // and the next record is there
	case err != nil:
		a.endBroken(r, err)
	default:
		a.endWhole(r)
	}
}

// endBroken ends a record whose block cannot be read to its end. It may say to be longer
// than it is, so the next record is searched from its beginning.
func (a *Reader) endBroken(r *Record, err error) {
	s := a.in
	r.err = err
	d := r.damage(err)
	if s.failed() == nil && (s.err == io.EOF || r.At.Skip > 0 || s.between) {
		if back := s.rewind(r.body, s.at+int64(s.w-s.r)-r.start); back != nil && !forward(back) {
			d.Err, a.err, a.pending = back, d, d
			return
		}
	}
	a.pending = a.skip(d)
	if len(s.buf()) > 0 && a.err == nil && errors.Is(err, io.ErrUnexpectedEOF) {
		r.err, d.Err = errLong, errLong
	}
}

// damage is what is wrong with a record, or with what follows it.
func (r *Record) damage(err error) *Damage {
	return &Damage{At: r.At, Within: r.Format != "", Err: err}
}

// forward reports whether an archive is read on, since it cannot be read again.
func forward(err error) bool { return errors.Is(err, errDear) || errors.Is(err, errOnce) }

// endWhole ends a record whose block is as long as it says, and looks whether that is
// so: a record or the end must follow.
func (a *Reader) endWhole(r *Record) {
	s := a.in
	wrong := r.sum.check("WARC-Block-Digest")
	known := r.sum != nil && wrong == nil
	last := s.taken
	s.blanks()
	end := s.position()
	ended := len(s.buf()) == 0
	switch r.err = wrong; {
	case ended && s.failed() != nil:
		d := r.damage(s.failed())
		a.err, a.pending = d, d
		return
	case ended && s.err != io.EOF && (s.between || s.damaged != last):
		return // Next says what lies there
	case ended && s.err != io.EOF: // the member's checksum, mostly
		if !known {
			r.err = fmt.Errorf("the %s is damaged: %w", s.packing, s.err)
		}
		a.pending = a.skip(r.damage(s.err))
		return
	}
	var after error // why what follows is no record
	if !ended {
		after = a.next()
	}
	follows := after == nil
	alone := r.At.Skip == 0 && s.packing != plain && (ended || end.Skip == 0)
	if follows && (wrong == nil || alone) {
		return
	}
	if !known && !alone {
		if back := s.rewind(r.body, s.at+int64(s.w-s.r)-r.start); back != nil && !forward(back) {
			d := r.damage(back)
			a.err, a.pending = d, d
			return
		}
	}
	if a.endAt(r, end, after); r.err == nil && !known && s.damaged == last {
		r.err = fmt.Errorf("the %s is damaged", s.packing)
	}
}

// endAt goes to the next record from within one, or from its end. If one begins before
// the end, the record says to be longer than it is.
func (a *Reader) endAt(r *Record, end Position, after error) {
	d := a.skip(r.damage(after))
	next := a.in.position()
	switch {
	case a.err != nil:
		a.pending = d
	case end.to(next) < 0:
		r.err, d.Err = errLong, errLong
		a.pending = d
	case next != end:
		d.Skipped = end.to(next)
		a.pending = d
	}
}
