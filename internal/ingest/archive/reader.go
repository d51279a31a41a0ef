package archive

import (
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"
	"time"
)

// maxHead bounds the header of a record, in bytes; maxBlanks what stands between
// two.
const (
	maxHead   = 1 << 20
	maxBlanks = 1 << 16
)

// recordHead is how a record of a WARC file begins.
const recordHead = "WARC/"

// versionHead is how an ARC file does.
const versionHead = "filedesc://"

// The types of records that say what a crawler got, or more about it.
const (
	Response = "response" // an answer, with its protocol
	Resource = "resource" // a file, without
	Revisit  = "revisit"  // an answer that was as one before
	Request  = "request"
	Metadata = "metadata"
	Info     = "warcinfo"
)

// Record is one record of an archive.
type Record struct {
	At     Position
	Format string // as the archive says: "WARC/1.0", "ARC/1"
	Type   string // of a WARC; of an ARC Response, or Resource where no HTTP answer is in it
	URL    string // as it stands there, without the brackets that some writers put
	Date   time.Time
	Header textproto.MIMEHeader // of a WARC record; nil of an ARC's
	Media  string               // content type of the block
	Length int64                // of the block
	Block  io.Reader            // until the next call of Next

	limited *io.LimitedReader
}

// Damage is the end of what can be read of an archive.
type Damage struct {
	At     Position // of the record that could not be read
	Within bool     // Next had given that record: its block is not whole
	Err    error    // io.ErrUnexpectedEOF where it is cut off
}

// Error says where and why.
func (d *Damage) Error() string {
	if errors.Is(d.Err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("the archive ends within the record at %s", d.At)
	}
	return fmt.Sprintf("the archive is damaged at %s: %v", d.At, d.Err)
}

// Unwrap gives the reason.
func (d *Damage) Unwrap() error { return d.Err }

// ErrNoArchive is what begins as neither a WARC nor an ARC file does.
var ErrNoArchive = errors.New("neither a WARC nor an ARC file")

// Reader reads the records of one archive. It is not safe for concurrent use.
type Reader struct {
	in     *stream
	arc    int // fields of a line of an ARC file; 0 for a WARC
	format string
	empty  bool
	last   *Record
	err    error
}

// New reads the archive in r. Where at is not zero, r begins at at.Offset of the
// file, and head, a second stream of the same file, at its beginning: what it says
// there holds for all records. The error is ErrNoArchive, or a Damage.
func New(r, head io.Reader, at Position) (*Reader, error) {
	if at == (Position{}) {
		in, err := newStream(r, at, nil)
		if err != nil {
			return nil, err
		}
		a := &Reader{in: in}
		return a, a.open()
	}
	first, err := New(head, nil, Position{})
	if err != nil {
		return nil, err
	}
	defer first.Close()
	var dict []byte
	if z, ok := first.in.member.(*zstdMembers); ok {
		dict = z.dict
		if dict == nil {
			dict = []byte{} // there is none, and none may come later
		}
	}
	if first.arc > 0 {
		if err := first.finish(); err != nil {
			return nil, &Damage{At: at, Err: whole(err)}
		}
	}
	in, err := newStream(r, at, dict)
	if err != nil {
		return nil, &Damage{At: at, Err: whole(err)}
	}
	return &Reader{in: in, arc: first.arc, format: first.format}, nil
}

// Kind is what the archive is: "WARC" or "ARC"; "" for one that is empty.
func (a *Reader) Kind() string {
	switch {
	case a.empty:
		return ""
	case a.arc > 0:
		return "ARC"
	}
	return "WARC"
}

// Close lets go of what the reader holds; the stream is its owner's to close.
func (a *Reader) Close() { a.in.close() }

// open tells the format by the first line.
func (a *Reader) open() error {
	err := a.in.blanks(maxBlanks)
	if errors.Is(err, io.EOF) {
		a.empty = true
		return nil // Next says so
	}
	if err != nil {
		return &Damage{Err: whole(err)}
	}
	a.in.fill(len(versionHead))
	switch head := string(a.in.buf); {
	case strings.HasPrefix(head, recordHead):
	case strings.HasPrefix(head, versionHead):
		return a.openARC()
	default:
		return ErrNoArchive
	}
	return nil
}

// Next gives the next record; what is left of the one before is passed over. The
// error is io.EOF at the end and a *Damage where what follows cannot be read.
func (a *Reader) Next() (*Record, error) {
	if a.err != nil {
		return nil, a.err
	}
	if last := a.last; last != nil {
		if err := a.finish(); err != nil {
			a.err = &Damage{At: last.At, Within: last.Format != "", Err: whole(err)}
			return nil, a.err
		}
	}
	r, at, err := a.next()
	switch {
	case err == nil:
		a.last = r
		return r, nil
	case !errors.Is(err, io.EOF):
		err = &Damage{At: at, Err: err}
	}
	a.err = err
	return nil, err
}

func (a *Reader) next() (_ *Record, at Position, err error) {
	if err := a.in.blanks(maxBlanks); err != nil {
		return nil, a.in.position(), err
	}
	at = a.in.position()
	r := &Record{At: at}
	if a.arc > 0 {
		err = a.readARC(r)
	} else {
		err = a.readWARC(r)
	}
	if err != nil {
		return nil, at, whole(err)
	}
	r.limited = &io.LimitedReader{R: a.in, N: r.Length}
	r.Block = r.limited
	a.in.block(a.arc == 0)
	return r, at, nil
}

// finish passes over what is left of the last record.
func (a *Reader) finish() error {
	if a.last == nil {
		return nil
	}
	left := a.last.limited
	a.last = nil
	_, err := io.CopyN(io.Discard, a.in, left.N)
	if a.in.cut {
		err = nil // its block says so, and the next record is there
	}
	a.in.block(false)
	return err
}

// Cut reports whether the block, read to its end, was shorter than its record said.
func (r *Record) Cut() bool { return r.limited.N > 0 }

func (a *Reader) readWARC(r *Record) (err error) {
	if r.Format, err = a.in.line(maxHead); err != nil {
		return err
	}
	r.Format = strings.TrimSpace(r.Format)
	if !strings.HasPrefix(r.Format, recordHead) {
		return fmt.Errorf("a record begins with %.40q", r.Format)
	}
	if r.Header, err = fields(a.in.line); err != nil {
		return err
	}
	said := r.Header.Get("Content-Length")
	if r.Length, err = strconv.ParseInt(said, 10, 64); err != nil || r.Length < 0 {
		return fmt.Errorf("a record of length %.40q", said)
	}
	r.Type = strings.ToLower(r.Header.Get("WARC-Type"))
	r.URL = strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("WARC-Target-URI"), "<"), ">")
	r.Media = r.Header.Get("Content-Type")
	r.Date, _ = time.Parse(time.RFC3339Nano, r.Header.Get("WARC-Date")) // a wrong one is none
	return nil
}

// fields reads named fields up to an empty line. A line that is none is passed
// over, one that begins with a blank goes on with the field before.
func fields(line func(int) (string, error)) (textproto.MIMEHeader, error) {
	h := textproto.MIMEHeader{}
	last := ""
	for left := maxHead; ; {
		l, err := line(left)
		if err != nil {
			return h, err
		}
		left -= len(l) + 1
		if left < 0 {
			return h, errLongLine
		}
		if l == "" {
			return h, nil
		}
		if l[0] == ' ' || l[0] == '\t' {
			if all := h[last]; len(all) > 0 {
				all[len(all)-1] += " " + strings.TrimSpace(l)
			}
			continue
		}
		name, value, ok := strings.Cut(l, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			continue
		}
		last = textproto.CanonicalMIMEHeaderKey(name)
		h[last] = append(h[last], strings.TrimSpace(value))
	}
}
