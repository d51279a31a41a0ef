package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// maxVersionBlock is how much is read of what an ARC file says of itself.
const maxVersionBlock = 1 << 20

// openARC reads the version block, which says what the fields of a line are
// (Burner and Kahle, "Arc File Format", 1996).
func (a *Reader) openARC() error {
	at := a.in.position()
	a.arc, a.format = 5, "ARC/1"
	r, err := a.readARC()
	if err != nil {
		return err
	}
	r.At, r.Format, a.last = at, "", r // Next does not give it
	r.begin(a)
	body := r.body
	said, _ := io.ReadAll(io.LimitReader(r.Block, maxVersionBlock)) // an error is Next's
	version, rest, _ := strings.Cut(string(said), "\n")
	names, _, _ := strings.Cut(rest, "\n")
	if strings.HasPrefix(version, "2") || len(strings.Fields(names)) == 10 {
		a.format, a.arc = "ARC/2", 10
	}
	return a.endVersion(body, string(said))
}

// endVersion goes back to the first record that begins within the version block, if one
// does: the block says to be longer than it is.
func (a *Reader) endVersion(body Position, said string) error {
	n := 0
	for line := range strings.Lines(said) {
		var r Record
		if n > 0 && r.takeLine(strings.TrimRight(line, "\r\n"), 5) == nil && knownScheme(r.URL) && !r.Date.IsZero() {
			err := a.in.rewind(body, int64(len(said)))
			if err == nil {
				a.last = nil
				a.in.peek(n)
				a.in.take(n)
			} else if forward(err) {
				err = nil
			}
			return err
		}
		n += len(line)
	}
	return nil
}

// readARC reads the line before a record.
func (a *Reader) readARC() (*Record, error) {
	r, err := a.arcLine()
	if err != nil {
		return nil, err
	}
	a.in.take(bytes.IndexByte(a.in.buf(), '\n') + 1)
	r.Format, r.Type = a.format, Resource
	if r.Length > 0 && (strings.HasPrefix(r.URL, "http:") || strings.HasPrefix(r.URL, "https:")) {
		r.Type, r.Media = Response, "application/http; msgtype=response"
	}
	return r, nil
}

// arcLine understands the line that the buffer begins with.
func (a *Reader) arcLine() (*Record, error) {
	s := a.in
	end := -1
	for from := 0; end < 0; {
		b := s.buf()
		if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
			end = from + i
		} else if from = len(b); s.err != nil || from > maxARCLine {
			break
		} else {
			s.more()
		}
	}
	switch {
	case end < 0 && s.err != nil && len(s.buf()) == 0:
		return nil, s.err
	case end < 0:
		return nil, odd(s.buf())
	}
	line := strings.TrimRight(string(s.buf()[:end]), "\r ")
	r := &Record{}
	if a.arc > 5 && strings.Count(line, " ") < a.arc-1 && r.takeLine(line, 5) == nil {
		return r, nil // the line of a version block may be of version 1, or that block is damaged
	}
	return r, r.takeLine(line, a.arc)
}

// takeLine reads the line before a block, of 5 or 10 fields. URLs may have blanks
// in them, since nobody encoded them, and types too; other fields may be empty.
func (r *Record) takeLine(line string, n int) error {
	f := strings.Split(line, " ")
	if len(f) < n {
		return fmt.Errorf("a record begins with %.40q", line)
	}
	said := f[len(f)-1]
	length, err := strconv.ParseInt(said, 10, 64)
	if err != nil || length < 0 {
		return fmt.Errorf("a record of length %.40q", said)
	}
	at := len(f) - n + 2 // the date
	for i := len(f) - 2; i >= 2 && !isARCDate(f[at]); i-- {
		if isARCDate(f[i]) {
			at = i
		}
	}
	r.URL, r.Length, r.Date = strings.Join(f[:at-1], " "), length, Date(f[at])
	if !strings.Contains(r.URL, ":") {
		return fmt.Errorf("a record begins with %.40q", line)
	}
	r.said = strings.Join(f[at+1:max(at+1, len(f)-n+4)], " ")
	r.Media = r.said
	return nil
}

// isARCDate reports whether a field is a date of 12 digits or more.
func isARCDate(s string) bool {
	return len(s) >= 12 && len(s) <= 17 && strings.Trim(s, "0123456789") == ""
}

// opening is how much of a file is searched for its first record where it does not begin
// with one, in bytes.
const opening = 8 << 20

// open tells the format by the first line. Where that is damaged, it looks for a record.
func (a *Reader) open() error {
	s := a.in
	s.blanks()
	head := s.peek(len(versionHead))
	switch {
	case s.failed() != nil:
		return s.failed()
	case len(head) == 0 && s.err == io.EOF:
		a.empty = true
		return nil // Next says so
	case bytes.HasPrefix(head, []byte(versionHead)):
		if a.openARC() == nil {
			return nil
		}
	case isVersion(s.peek(len(recordHead) + maxVersionLine)):
		return nil
	case s.packing == plain:
		if name := otherPacking(head); name != "" {
			return fmt.Errorf("%w, but %s", ErrNoArchive, name)
		}
	}
	return a.search()
}

// otherPacking names what an archive may be packed in that is not unpacked here.
func otherPacking(head []byte) string {
	for magic, name := range map[string]string{
		"BZh":              "packed by bzip2: unpack it first",
		"\x04\x22\x4d\x18": "packed by lz4: unpack it first",
		"\xfd7zXZ\x00":     "packed by xz: unpack it first",
		"PK\x03\x04":       "a zip file",
		"%PDF-":            "a PDF",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return name
		}
	}
	return ""
}

// search looks for the first record of a file whose beginning is damaged.
func (a *Reader) search() error {
	s := a.in
	var cut error // why not even the first line was read
	if s.err != nil && s.err != io.EOF {
		cut = s.err
	}
	type try struct {
		packing packing
		arc     int
	}
	tries := []try{{s.packing, 0}, {s.packing, 5}} // what begins first in the file is chosen
	if s.packing == plain {
		tries = append(tries, try{gzipped, 0}, try{gzipped, 5}, try{zstandard, 0})
	}
	first, found := Position{Offset: math.MaxInt64}, try{}
	for _, t := range tries {
		switch err := s.reopen(t.packing); {
		case errors.Is(err, errOnce):
			return ErrNoArchive
		case err != nil:
			return err
		}
		a.arc = t.arc
		if err := a.scan(); err == nil && s.position().Offset < first.Offset {
			first, found = s.position(), t
		}
		if s.failed() != nil {
			return s.failed()
		}
	}
	if first.Offset == math.MaxInt64 {
		if cut != nil {
			return &Damage{Err: whole(cut)}
		}
		return ErrNoArchive
	}
	if a.arc, a.format = found.arc, ""; found.arc > 0 {
		a.format = "ARC/1"
	}
	a.pending = &Damage{Skipped: Position{}.to(first), Err: errors.New("the archive begins with no record")}
	if err := s.openAt(first.Offset, 0); err != nil {
		return err
	}
	s.packing, s.member = found.packing, nil
	return s.start(first)
}

// reopen begins anew, to search a file's beginning for members of a packing.
func (s *stream) reopen(p packing) error {
	if err := s.openAt(0, opening); err != nil {
		return err
	}
	s.packing, s.member = p, nil
	if p == plain {
		return nil
	}
	s.member = p.members(s)
	s.begun, s.search = nil, 0
	if s.err = s.begin(); s.err == nil {
		return nil
	}
	s.search = 0
	return nil
}
