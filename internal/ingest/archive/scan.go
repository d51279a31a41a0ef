package archive

import (
	"bytes"
	"io"
	"strings"
)

// recordHead begins a record of a WARC file, in any case; versionHead an ARC file.
const (
	recordHead  = "WARC/"
	versionHead = "filedesc://"
)

// maxVersionLine bounds the first line of a WARC record, maxARCLine that of an ARC's where
// one is searched, in bytes.
const (
	maxVersionLine = 32
	maxARCLine     = 64 << 10
)

// firstLine is the first line, without its end.
func firstLine(b []byte) string {
	b = b[:min(len(b), maxHead)]
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	return string(bytes.TrimSuffix(b, []byte{'\r'}))
}

// isVersion reports whether a WARC record begins: "WARC/1.0" and the end of the line.
func isVersion(b []byte) bool {
	if len(b) < len(recordHead) || !strings.EqualFold(string(b[:len(recordHead)]), recordHead) {
		return false
	}
	b = b[len(recordHead):]
	n := bytes.IndexByte(b[:min(len(b), maxVersionLine)], '\n')
	if n < 0 {
		return false
	}
	version := bytes.TrimSpace(b[:n])
	return len(version) > 0 && len(bytes.Trim(version, "0123456789.")) == 0
}

// lastVersion is where the last version of a WARC record is, at the beginning of a line
// or of which another text is left, after the first one of a header; -1 where there is none.
func lastVersion(head []byte) int {
	for end := len(head); ; {
		end = bytes.LastIndexByte(head[:end], '/')
		i := end + 1 - len(recordHead)
		if i <= 0 {
			return -1
		}
		if isVersion(head[i:]) {
			return i
		}
	}
}

// firstHead is where the first "WARC/" is, in any case; -1 where there is none.
func firstHead(b []byte) int {
	for end := 0; ; {
		n := bytes.IndexByte(b[end:], '/')
		if n < 0 {
			return -1
		}
		end += n + 1
		if i := end - len(recordHead); i >= 0 && strings.EqualFold(string(b[i:end]), recordHead) {
			return i
		}
	}
}

// headEnd is the length of the header that the buffer begins with, with its empty
// line; -1 where that is not within maxHead bytes.
func (s *stream) headEnd() int {
	for from := 0; ; {
		b := s.buf()
		for {
			i := bytes.IndexByte(b[from:], '\n')
			if i < 0 {
				from = len(b)
				break
			}
			from += i + 1
			switch rest := b[from:min(len(b), from+2)]; {
			case from > maxHead:
				return -1
			case bytes.HasPrefix(rest, []byte{'\n'}):
				return from + 1
			case bytes.Equal(rest, []byte("\r\n")):
				return from + 2
			case len(rest) < 2 && s.err == nil:
				from-- // the next bytes tell
				s.more()
				b = s.buf()
			}
		}
		if s.err != nil || len(b) > maxHead {
			return -1
		}
		s.more()
	}
}

// next returns why the buffer does not begin with a record; nil where it does.
func (a *Reader) next() error {
	if a.arc > 0 {
		r, err := a.arcLine()
		if err == nil && !knownScheme(r.URL) { // a part of a line may look like one
			err = odd(a.in.buf())
		}
		return err
	}
	if b := a.in.peek(len(recordHead) + maxVersionLine); !isVersion(b) {
		return odd(b)
	}
	return nil
}

// scan goes to the next record whose header can be read. The error is io.EOF where there
// is none, or that of the source.
func (a *Reader) scan() error {
	s := a.in
	for {
		if len(s.peek(1)) > 0 {
			if a.found() {
				return nil
			}
			continue
		}
		if err := s.failed(); err != nil {
			return err
		}
		if s.err == io.EOF {
			return io.EOF
		}
		if err := s.nextMember(); err != nil {
			return err
		}
	}
}

// found reports whether a record begins in the buffer, and goes there; else it takes
// bytes in which none does.
func (a *Reader) found() bool {
	if a.arc > 0 {
		return a.foundARC()
	}
	s := a.in
	b := s.buf()
	i := firstHead(b)
	if i < 0 {
		if n := len(b) - len(recordHead) + 1; n > 0 {
			s.take(n)
		} else if s.more(); s.w-s.r == len(b) {
			s.take(len(b))
		}
		return false
	}
	s.take(i)
	if !isVersion(s.peek(len(recordHead) + maxVersionLine)) {
		s.take(len(recordHead))
		return false
	}
	n := s.headEnd()
	head := s.buf()
	if n >= 0 {
		head = head[:n]
	}
	if _, err := parseWARC(head); n >= 0 && err == nil {
		return true
	}
	if j := lastVersion(head); j > 0 { // another begins before this one's end
		s.take(j)
	} else {
		s.take(len(head))
	}
	return false
}

// knownScheme reports whether an address begins as those in ARC files do.
func knownScheme(url string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(url), ":")
	switch scheme {
	case "http", "https", "ftp", "dns", "whois", "filedesc", "gopher", "urn", "mailto", "news", "nntp", "data":
		return true
	}
	return false
}

// isURL reports whether a text begins with a scheme, and has only visible bytes.
func isURL(s string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(s), ":")
	return len(scheme) > 1 && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+.-") == "" &&
		strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}

// foundARC is found for ARC files, whose records begin with a line.
func (a *Reader) foundARC() bool {
	s := a.in
	if r, err := a.arcLine(); err == nil && !r.Date.IsZero() && isURL(r.URL) {
		return true
	}
	for {
		b := s.peek(1)
		if len(b) == 0 {
			return false
		}
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			s.take(i + 1)
			return false
		}
		edge := s.edge() // a line may begin with a member
		s.take(edge)
		if edge < len(b) {
			return false
		}
	}
}
