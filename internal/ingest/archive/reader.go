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

// maxHead bounds the header of a record, in bytes.
const maxHead = 1 << 20

// The types of records that say what a crawler got, or more about it.
const (
	Response     = "response" // an answer, with its protocol
	Resource     = "resource" // a file, without
	Revisit      = "revisit"  // an answer that was as one before
	Request      = "request"
	Metadata     = "metadata"
	Info         = "warcinfo"
	Conversion   = "conversion"   // another form of a resource
	Continuation = "continuation" // more of a record in segments
)

// tokenBytes are those of a record's type, in lower case.
const tokenBytes = "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~"

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

	said string // content type of the payload, by an ARC's line
	blockState
}

// Damage is what cannot be read of an archive. What follows it can: Next goes on there.
type Damage struct {
	At      Position // of the record that could not be read
	Within  bool     // Next had given that record: its block or what follows it is damaged
	Skipped int64    // bytes from there to the next record: of the file or, in one member, unpacked
	Err     error    // io.ErrUnexpectedEOF where it is cut off
}

// Error says where and why.
func (d *Damage) Error() string {
	if errors.Is(d.Err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("the archive ends within the record at %s", d.At)
	}
	return fmt.Sprintf("the archive is damaged at %s: %v; %d bytes are skipped", d.At, d.Err, d.Skipped)
}

// Unwrap gives the reason.
func (d *Damage) Unwrap() error { return d.Err }

// ErrNoArchive is what begins as neither a WARC nor an ARC file does.
var ErrNoArchive = errors.New("neither a WARC nor an ARC file")

// Reader reads the records of one archive. It is not safe for concurrent use.
type Reader struct {
	in      *stream
	arc     int // fields of a line of an ARC file; 0 for a WARC
	format  string
	empty   bool
	last    *Record
	pending *Damage // the next call of Next returns it
	err     error   // every call of Next returns it
}

// New reads an archive from a position, at which a record was. The error is ErrNoArchive,
// a Damage, or that of the source.
func New(open Source, at Position) (*Reader, error) {
	if at == (Position{}) {
		in, err := newStream(open, at, unknown, nil)
		if err != nil {
			return nil, err
		}
		a := &Reader{in: in}
		if err = a.open(); err != nil {
			a.Close()
			return nil, err
		}
		return a, nil
	}
	first, err := New(open, Position{})
	if err != nil {
		return nil, err
	}
	defer first.Close()
	var dict []byte
	if z, ok := first.in.member.(*zstdMembers); ok {
		dict = z.dict
	}
	in, err := newStream(open, at, first.in.packing, dict)
	if err != nil {
		if in != nil {
			in.close()
		}
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

// Close lets go of what the reader holds.
func (a *Reader) Close() { a.in.close() }

// Next gives the next record; what is left of the one before is passed over. The
// error is io.EOF at the end, and a *Damage where something cannot be read: the next
// call goes on behind it. Where the source itself fails, the Damage comes each time.
func (a *Reader) Next() (*Record, error) {
	if a.err == nil {
		a.end()
		a.last = nil
	}
	if d := a.pending; d != nil {
		a.pending = nil
		return nil, d
	}
	if a.err != nil {
		return nil, a.err
	}
	s := a.in
	s.blanks()
	at := s.position()
	if len(s.buf()) == 0 && s.err == io.EOF {
		a.err = io.EOF
		return nil, a.err
	}
	r, err := a.head()
	if err == nil {
		r.At, a.last = at, r
		r.begin(a)
		return r, nil
	}
	if len(s.buf()) > 0 {
		s.take(1)
	}
	return nil, a.skip(&Damage{At: at, Err: whole(err)})
}

// skip goes to the next record behind a damage, and completes it.
func (a *Reader) skip(d *Damage) *Damage {
	err := a.in.failed()
	if err == nil {
		err = a.scan()
	}
	if err != nil && err != io.EOF { // the source fails
		d.Err = err
		a.err = d
	}
	d.Skipped = d.At.to(a.in.position())
	return d
}

// head reads the header of a record, or leaves the buffer as it is.
func (a *Reader) head() (*Record, error) {
	if a.arc > 0 {
		return a.readARC()
	}
	return a.readWARC()
}

// readWARC reads the header of a WARC record.
func (a *Reader) readWARC() (*Record, error) {
	s := a.in
	n := s.headEnd()
	if n < 0 {
		switch b := s.buf(); {
		case len(b) == 0:
			return nil, s.err
		case !isVersion(b):
			return nil, odd(b)
		case len(b) >= maxHead:
			return nil, errLongHead
		case s.err != io.EOF:
			return nil, s.err
		}
		return nil, io.ErrUnexpectedEOF
	}
	r, err := parseWARC(s.buf()[:n])
	if err == nil {
		s.take(n)
	}
	return r, err
}

var errLongHead = errors.New("a header of more than 1 MiB")

func odd(b []byte) error { return fmt.Errorf("a record begins with %.40q", firstLine(b)) }

// parseWARC understands the header of a WARC record (ISO 28500, section 4).
func parseWARC(head []byte) (*Record, error) {
	line := firstLine(head)
	if !isVersion(head) {
		return nil, odd(head)
	}
	r := &Record{Format: strings.TrimSpace(line), Header: textproto.MIMEHeader{}}
	f := &fields{into: r.Header}
	for l := range strings.Lines(string(head[len(line)+1:])) {
		f.add(strings.TrimRight(l, "\r\n"))
	}
	f.flush()
	if i := lastVersion(head); i > 0 && (head[i-1] == '\n' || len(r.Header["Warc-Type"]) > 1) {
		return nil, errors.New("a header in which another begins")
	}
	said := r.Header.Get("Content-Length")
	var err error
	if r.Length, err = strconv.ParseInt(said, 10, 64); err != nil || r.Length < 0 {
		return nil, fmt.Errorf("a record of length %.40q", said)
	}
	if r.Type = strings.ToLower(r.Header.Get("WARC-Type")); r.Type == "" || strings.Trim(r.Type, tokenBytes) != "" {
		return nil, fmt.Errorf("a record of type %.40q", r.Type)
	}
	r.URL = strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("WARC-Target-URI"), "<"), ">")
	r.Media = r.Header.Get("Content-Type")
	r.Date = Date(r.Header.Get("WARC-Date"))
	return r, nil
}

// fields collects named fields. A line that is none is passed over, one that begins
// with a blank goes on with the field before.
type fields struct {
	into  textproto.MIMEHeader
	name  string
	value strings.Builder
}

func (f *fields) add(line string) {
	if line != "" && (line[0] == ' ' || line[0] == '\t') {
		if f.name != "" {
			if f.value.Len() > 0 {
				f.value.WriteByte(' ')
			}
			f.value.WriteString(strings.TrimSpace(line))
		}
		return
	}
	f.flush()
	name, value, ok := strings.Cut(line, ":")
	if name = strings.TrimSpace(name); ok && name != "" {
		f.name = textproto.CanonicalMIMEHeaderKey(name)
		f.value.WriteString(strings.TrimSpace(value))
	}
}

// flush ends the last field.
func (f *fields) flush() {
	if f.name != "" {
		f.into[f.name] = append(f.into[f.name], strings.TrimSpace(f.value.String()))
	}
	f.name = ""
	f.value.Reset()
}
