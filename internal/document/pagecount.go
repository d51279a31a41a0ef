package document

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
	"strconv"
)

// countPages reads how many pages a PDF has off the root of its page tree: the
// dictionary of type Pages without a Parent. It looks through the file's bytes
// and, from the last, through its object streams; 0 where it finds no root, or
// several that disagree, as after an update: then a reader has to be asked, which
// takes a process. What it inflates is bounded, and in a file that was never updated
// ends with the root.
func countPages(pdf []byte) int {
	if bytes.Contains(pdf, []byte("/Encrypt")) {
		return 0
	}
	n, once := rootCount(pdf), bytes.Count(pdf, []byte("startxref")) == 1
	if once && n > 0 {
		return n
	}
	for _, stream := range objectStreams(pdf) {
		switch m := rootCount(inflated(stream)); {
		case m < 0 || n > 0 && m > 0 && m != n:
			return 0
		case m > 0 && once:
			return m
		case m > 0:
			n = m
		}
	}
	return max(n, 0)
}

var (
	pagesType  = []byte("/Pages")
	countEntry = regexp.MustCompile(`/Count\s+(\d{1,6})\b`)
	typePages  = regexp.MustCompile(`/Type\s*/Pages\b`)
	objStm     = []byte("/ObjStm")
)

// rootCount is the count of the only root in b, 0 where there is none, and -1
// where several disagree.
func rootCount(b []byte) int {
	n := 0
	for at, seen := 0, 0; ; seen++ {
		i := bytes.Index(b[at:], pagesType)
		if i < 0 {
			return n
		}
		if seen == mostNodes {
			return -1
		}
		at += i + len(pagesType)
		d := dictionary(b, at-len(pagesType))
		if !typePages.Match(d) || bytes.Contains(d, []byte("/Parent")) {
			continue
		}
		c := countEntry.FindSubmatch(d)
		if c == nil {
			return -1
		}
		m, err := strconv.Atoi(string(c[1]))
		if err != nil || n != 0 && m != n {
			return -1
		}
		n = m
	}
}

// mostNodes bounds how many nodes of page trees are looked at: each has a dozen or
// more kids, but for files made to keep a reader busy.
const mostNodes = 1000

// dictionaryReach is how far a dictionary's ends are looked for: one of a page
// tree's root names a few dozen kids.
const dictionaryReach = 4 << 10

// dictionary is what stands between the innermost << and >> around a place.
func dictionary(b []byte, at int) []byte {
	from, to := max(0, at-dictionaryReach), min(len(b), at+dictionaryReach)
	start, depth := -1, 0
	for i := at; i > from && start < 0; i-- {
		switch {
		case b[i] == '>' && b[i-1] == '>':
			depth++
			i--
		case b[i] == '<' && b[i-1] == '<':
			if depth == 0 {
				start = i + 1
			}
			depth--
			i--
		}
	}
	depth = 0
	for i := at; start >= 0 && i+1 < to; i++ {
		switch {
		case b[i] == '<' && b[i+1] == '<':
			depth++
			i++
		case b[i] == '>' && b[i+1] == '>':
			if depth == 0 {
				return b[start:i]
			}
			depth--
			i++
		}
	}
	return nil
}

// mostStreams bounds how many object streams are looked through, and maxInflated
// how much of each.
const (
	mostStreams = 64
	maxInflated = 1 << 20
)

// objectStreams are the packed bytes of a file's last object streams.
func objectStreams(b []byte) (out [][]byte) {
	for end := len(b); len(out) < mostStreams; {
		i := bytes.LastIndex(b[:end], objStm)
		if i < 0 {
			break
		}
		end = i
		s := bytes.Index(b[i:min(len(b), i+512)], []byte("stream"))
		if s < 0 {
			continue
		}
		from := i + s + len("stream")
		out = append(out, bytes.TrimLeft(b[from:min(len(b), from+maxInflated)], "\r\n"))
	}
	return out
}

func inflated(b []byte) []byte {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	defer func() { _ = z.Close() }()
	out, _ := io.ReadAll(io.LimitReader(z, maxInflated)) // what came before an error counts
	return out
}
