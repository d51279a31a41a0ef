package archive

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// maxVersionBlock is how much is read of what an ARC file says of itself.
const maxVersionBlock = 1 << 20

// openARC reads the version block, which says what the fields of a line are
// (Burner and Kahle, "Arc File Format", 1996).
func (a *Reader) openARC() error {
	at := a.in.position()
	a.arc = 5
	line, err := a.in.line(maxHead)
	if err != nil {
		return &Damage{At: at, Err: whole(err)}
	}
	r := &Record{At: at}
	if err := r.takeLine(line, 5); err != nil {
		return &Damage{At: at, Err: err}
	}
	r.limited = &io.LimitedReader{R: a.in, N: r.Length}
	said, err := io.ReadAll(io.LimitReader(r.limited, maxVersionBlock))
	if err != nil || len(said) == 0 && r.Length > 0 {
		return &Damage{At: at, Err: io.ErrUnexpectedEOF}
	}
	version, rest, _ := strings.Cut(string(said), "\n")
	names, _, _ := strings.Cut(rest, "\n")
	a.format = "ARC/1"
	if strings.HasPrefix(version, "2") || len(strings.Fields(names)) == 10 {
		a.format, a.arc = "ARC/2", 10
	}
	a.last = r
	return nil
}

func (a *Reader) readARC(r *Record) error {
	line, err := a.in.line(maxHead)
	if err != nil {
		return err
	}
	if err := r.takeLine(line, a.arc); err != nil {
		return err
	}
	r.Format, r.Type = a.format, Resource
	if r.Length > 0 && (strings.HasPrefix(r.URL, "http:") || strings.HasPrefix(r.URL, "https:")) {
		r.Type, r.Media = Response, "application/http; msgtype=response"
	}
	return nil
}

// takeLine reads the line before a block, of 5 or 10 fields. URLs may have blanks
// in them, since nobody encoded them; what comes behind has none.
func (r *Record) takeLine(line string, n int) error {
	f := strings.Fields(line)
	if len(f) < n {
		return fmt.Errorf("a record begins with %.40q", line)
	}
	behind := f[len(f)-n+1:]
	head, _, _ := strings.Cut(line, " ")
	if len(f) > n {
		head = strings.Join(f[:len(f)-n+1], " ")
	}
	length, err := strconv.ParseInt(behind[len(behind)-1], 10, 64)
	if err != nil || length < 0 {
		return fmt.Errorf("a record of length %.40q", behind[len(behind)-1])
	}
	r.URL, r.Media, r.Length = head, behind[2], length
	if date := behind[1]; len(date) >= 14 {
		r.Date, _ = time.Parse("20060102150405", date[:14]) // "null" and the like are none
	}
	return nil
}
