package metadata

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/encoding/charmap"
)

// maxRecord bounds one record of the dump; the longest real ones are person
// pages and proceedings of some ten kilobytes.
const maxRecord = 4 << 20

// recordNames are the elements that stand directly below <dblp>.
var recordNames = [][]byte{
	[]byte("article"), []byte("inproceedings"), []byte("proceedings"), []byte("book"), []byte("incollection"),
	[]byte("phdthesis"), []byte("mastersthesis"), []byte("www"), []byte("person"), []byte("data"),
}

// errCut says that a dump ends before its end.
var errCut = errors.New("the dump is cut off: it has no </dblp>")

// dump is a local copy of dblp.xml, plain or gzipped. Every question is one pass
// through the file, in the memory of one record and of the answer: what a record
// is about is seen in its bytes, and only those that matter are parsed.
type dump struct {
	path     string
	entities map[string]string
}

// dumpName names the dump in errors.
const dumpName = "the DBLP dump"

// openDump reads dblp.dtd beside the dump, if it is there, for its entities; the
// Latin-1 set is known without it. The dump itself is opened at each pass.
func openDump(path string) (*dump, error) {
	d := &dump{path: path, entities: maps.Clone(xml.HTMLEntity)}
	dtd, err := os.ReadFile(filepath.Join(filepath.Dir(path), "dblp.dtd"))
	if errors.Is(err, os.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return nil, ErrRefused{Service: dumpName, URL: path, Reason: err.Error()}
	}
	for _, m := range entityRE.FindAllSubmatch(dtd, -1) {
		d.entities[string(m[1])] = html.UnescapeString(string(m[2]))
	}
	return d, nil
}

var entityRE = regexp.MustCompile(`<!ENTITY\s+([A-Za-z][\w.-]*)\s+"([^"]*)"`)

// each calls f with the raw bytes of every record; they are valid during the
// call only.
func (d *dump) each(ctx context.Context, f func(raw []byte) error) error {
	file, err := os.Open(d.path)
	if err != nil {
		return ErrRefused{Service: dumpName, URL: d.path, Reason: err.Error()}
	}
	defer file.Close()
	var r io.Reader = bufio.NewReaderSize(file, 1<<20)
	if magic, _ := r.(*bufio.Reader).Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		zipped, err := gzip.NewReader(r)
		if err != nil {
			return ErrBadAnswer{dumpName, d.path, err}
		}
		defer zipped.Close()
		r = zipped
	}
	if err := scanRecords(ctx, r, f); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return ErrBadAnswer{dumpName, d.path, err}
	}
	return nil
}

// scanRecords splits a dump into its records.
func scanRecords(ctx context.Context, r io.Reader, f func(raw []byte) error) error {
	sp := splitter{}
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 256<<10), maxRecord)
	s.Split(sp.split)
	for n := 0; s.Scan(); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := f(s.Bytes()); err != nil {
			return err
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a record is longer than %d bytes", maxRecord)
	}
	if s.Err() != nil {
		return s.Err()
	}
	if !sp.ended {
		return errCut
	}
	return nil
}

// splitter is a bufio.SplitFunc with the little that it has to remember.
type splitter struct {
	ended bool // </dblp> was seen
	// looked is how far into the record at hand, which is not there to its end,
	// its end was looked for.
	looked int
}

func (sp *splitter) split(data []byte, atEOF bool) (advance int, token []byte, err error) {
	start, end := sp.next(data)
	switch {
	case start < 0 && atEOF:
		return len(data), nil, nil
	case start < 0:
		// Keep what may be the begin of a tag.
		return max(0, len(data)-32), nil, nil
	case end < 0 && atEOF:
		return len(data), nil, errCut
	case end < 0:
		sp.looked = len(data) - start
		return start, nil, nil
	}
	sp.looked = 0
	return end, data[start:end], nil
}

// next finds the first record in data: where it begins and ends, -1 for what is
// not there yet.
func (sp *splitter) next(data []byte) (start, end int) {
	for at := 0; ; {
		i := bytes.IndexByte(data[at:], '<')
		if i < 0 {
			return -1, -1
		}
		at += i
		rest := data[at+1:]
		if bytes.HasPrefix(rest, []byte("/dblp>")) {
			sp.ended = true
		}
		if name := recordName(rest); name != nil {
			closing := append(append([]byte("</"), name...), '>')
			from := max(0, sp.looked-len(closing)-1) // the closing tag may have been cut
			j := bytes.Index(rest[from:], closing)
			if j < 0 {
				return at, -1
			}
			return at, at + 1 + from + j + len(closing)
		}
		at++
	}
}

func recordName(rest []byte) []byte {
	for _, name := range recordNames {
		if len(rest) > len(name) && bytes.HasPrefix(rest, name) {
			switch rest[len(name)] {
			case ' ', '\n', '\t', '\r', '>':
				return name
			}
		}
	}
	return nil
}

// parse reads one record.
func (d *dump) parse(raw []byte) (xmlRecord, error) {
	if !utf8.Valid(raw) {
		// The dump declares ISO-8859-1, though it writes plain ASCII.
		latin, err := charmap.ISO8859_1.NewDecoder().Bytes(raw)
		if err != nil {
			return xmlRecord{}, err
		}
		raw = latin
	}
	var x xmlRecord
	err := newDecoder(bytes.NewReader(raw), d.entities).Decode(&x)
	return x, err
}

// rawAuthors lists the authors of a record as the dump writes them: the same
// spelling everywhere, homonym number included, which makes it an identity.
func rawAuthors(raw []byte) []string {
	var out []string
	for {
		i := bytes.Index(raw, []byte("<author"))
		if i < 0 {
			return out
		}
		raw = raw[i:]
		open := bytes.IndexByte(raw, '>')
		end := bytes.Index(raw, []byte("</author>"))
		if open < 0 || end < open {
			return out
		}
		out = append(out, string(bytes.TrimSpace(raw[open+1:end])))
		raw = raw[end:]
	}
}
