package seeds

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// Entry is a page in a directory.
type Entry struct {
	URL      string
	Category string // its path, such as Top/Science/Math/Number_Theory
}

// ErrFormat is what is wrong with a dump; its text says what.
var ErrFormat = errors.New("no dump of a directory")

// maxEntry bounds what a dump says of one page, in bytes.
const maxEntry = 1 << 20

// Each hands over the entries of a dump in its order, until do says no, and returns how
// many could not be read. A dump that breaks off is an ErrFormat after the entries before.
func Each(dump io.Reader, do func(Entry) bool) (broken int, err error) {
	in := bufio.NewReader(dump)
	if head, _ := in.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		defer func() { _ = z.Close() }()
		in = bufio.NewReader(z)
	}
	m := &meter{in: transform.NewReader(in, transform.Chain(runes.ReplaceIllFormed(), runes.Map(printed)))}
	text := bufio.NewReader(m)
	head, err := text.Peek(1)
	for ; err == nil && (unicode.IsSpace(rune(head[0])) || head[0] == 0xEF || head[0] == 0xBB || head[0] == 0xBF); head, err = text.Peek(1) {
		_, _ = text.Discard(1)
	}
	if errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("%w: it is empty", ErrFormat)
	}
	if err == nil {
		broken, err = eachRow(text, m, do)
	}
	if err != nil && !errors.Is(err, ErrFormat) {
		err = fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return broken, err
}

// printed blanks the control characters with which dumps are strewn.
func printed(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
		return ' '
	}
	return r
}

// meter bounds what is read for one entry.
type meter struct {
	in io.Reader
	n  int
}

func (m *meter) Read(p []byte) (int, error) {
	if m.n > maxEntry {
		return 0, fmt.Errorf("%w: one entry has more than %d bytes", ErrFormat, maxEntry)
	}
	n, err := m.in.Read(p[:min(len(p), 64<<10)])
	m.n += n
	return n, err
}

func (m *meter) next() { m.n = 0 }

// columns are the names of a table's columns, by what they hold.
var columns = map[string][]string{
	"url":      {"url", "link", "address", "uri"},
	"category": {"category", "categories", "topic", "path", "subject"},
}

// eachRow reads a table with a header.
func eachRow(in *bufio.Reader, m *meter, do func(Entry) bool) (broken int, err error) {
	head, err := in.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	comma := ','
	if strings.Contains(head, "\t") {
		comma = '\t'
	}
	table := func(from io.Reader) *csv.Reader {
		r := csv.NewReader(from)
		r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = comma, true, -1, true
		return r
	}
	names, err := table(strings.NewReader(head)).Read()
	if err != nil {
		return 0, err
	}
	at := map[string]int{}
	for what, spellings := range columns {
		at[what] = slices.IndexFunc(names, func(name string) bool { return slices.Contains(spellings, strings.ToLower(strings.TrimSpace(name))) })
	}
	if at["url"] < 0 || at["category"] < 0 {
		return 0, fmt.Errorf("%w: want a table whose first line names the columns url and category; it names %.200q", ErrFormat, names)
	}
	rows := table(in)
	for {
		m.next()
		row, err := rows.Read()
		var wrong *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return broken, nil
		case errors.As(err, &wrong) && !errors.Is(err, ErrFormat):
			broken++
			continue
		case err != nil:
			return broken, err
		}
		cell := func(what string) string {
			if i := at[what]; i >= 0 && i < len(row) {
				return strings.Clone(strings.TrimSpace(row[i]))
			}
			return ""
		}
		if !do(Entry{URL: cell("url"), Category: cell("category")}) {
			return broken, nil
		}
	}
}
