package page

import (
	"bytes"
	"html"
)

// xmlScanner cuts XML into tags and text as far as sitemaps and feeds need it.
// encoding/xml stops at the first error; sitemaps have many.
type xmlScanner struct {
	src    []byte
	isText bool
	isEnd  bool
	name   string // local name, lower case
	href   string // attribute of that name
	text   string
	closes bool // a self-closing tag was given as a start tag: its end comes next
}

// next reads a token; false at the end.
func (s *xmlScanner) next() bool {
	s.isText, s.href = false, ""
	if s.closes {
		s.closes, s.isEnd = false, true
		return true
	}
	s.isEnd = false
	for len(s.src) > 0 {
		if s.src[0] != '<' {
			i := bytes.IndexByte(s.src, '<')
			if i < 0 {
				i = len(s.src)
			}
			s.isText, s.text = true, html.UnescapeString(string(s.src[:min(i, 1<<16)]))
			s.src = s.src[i:]
			return true
		}
		switch {
		case bytes.HasPrefix(s.src, []byte("<![CDATA[")):
			text := s.upTo("<![CDATA[", "]]>")
			s.isText, s.text = true, string(text)
			return true
		case bytes.HasPrefix(s.src, []byte("<!--")):
			s.upTo("<!--", "-->")
		case bytes.HasPrefix(s.src, []byte("<!")), bytes.HasPrefix(s.src, []byte("<?")):
			s.upTo("<", ">")
		default:
			s.tag(s.upTo("<", ">"))
			return true
		}
	}
	return false
}

// upTo takes what stands between two marks, and both.
func (s *xmlScanner) upTo(open, end string) []byte {
	s.src = s.src[len(open):]
	i := bytes.Index(s.src, []byte(end))
	if i < 0 {
		text := s.src
		s.src = nil
		return text
	}
	text := s.src[:i]
	s.src = s.src[i+len(end):]
	return text
}

// tag reads the inside of <…>.
func (s *xmlScanner) tag(b []byte) {
	if len(b) > 0 && b[0] == '/' {
		s.isEnd = true
		b = b[1:]
	} else if len(b) > 0 && b[len(b)-1] == '/' {
		s.closes = true
		b = b[:len(b)-1]
	}
	name, attrs := b, []byte(nil)
	if i := bytes.IndexAny(b, " \t\r\n"); i >= 0 {
		name, attrs = b[:i], b[i:]
	}
	if i := bytes.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	s.name = ""
	if len(name) <= 40 {
		s.name = string(bytes.ToLower(name))
	}
	if i := bytes.Index(attrs, []byte("href=")); i >= 0 && len(attrs) > i+6 {
		v := attrs[i+5:]
		if end := bytes.IndexByte(v[1:], v[0]); end >= 0 {
			s.href = html.UnescapeString(string(v[1 : 1+end]))
		}
	}
}
