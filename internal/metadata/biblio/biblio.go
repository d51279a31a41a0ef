package biblio

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"gleaner/internal/gleaner"
)

// Format is a way of writing a list of papers down.
type Format string

// The formats that Read and Write know.
const (
	CSV    Format = "csv"   // with a header line; comma, semicolon or tab
	JSONL  Format = "jsonl" // one JSON object a line
	BibTeX Format = "bibtex"
	RIS    Format = "ris"
)

// ErrFormat is the error of a format that is not known, or cannot be told.
var ErrFormat = errors.New("format not known: want csv, jsonl, bibtex or ris")

// SyntaxError is input that does not follow its format. Line and Column count
// from 1; Column is in bytes, 0 where only the line is known.
type SyntaxError struct {
	Line, Column int
	Msg          string
}

func (e *SyntaxError) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

func failAt(line, column int, format string, args ...any) error {
	return &SyntaxError{Line: line, Column: column, Msg: fmt.Sprintf(format, args...)}
}

// ParseFormat reads a format's name as a person writes it ("BibTeX", ".bib",
// "json"); the error is ErrFormat.
func ParseFormat(s string) (Format, error) {
	switch strings.ToLower(strings.TrimPrefix(strings.TrimSpace(s), ".")) {
	case "csv", "tsv":
		return CSV, nil
	case "jsonl", "ndjson", "json", "jsonlines":
		return JSONL, nil
	case "bibtex", "bib":
		return BibTeX, nil
	case "ris":
		return RIS, nil
	}
	return "", fmt.Errorf("%q: %w", s, ErrFormat)
}

// Detect tells the format by the file's name, and where that does not say, by
// its first bytes. It is "" where neither does.
func Detect(name string, head []byte) Format {
	if f, err := ParseFormat(filepath.Ext(name)); err == nil {
		return f
	}
	s := strings.TrimLeft(strings.TrimPrefix(string(head), "\ufeff"), " \t\r\n")
	switch {
	case s == "":
		return ""
	case strings.HasPrefix(s, "{"):
		return JSONL
	case strings.HasPrefix(s, "TY  -"):
		return RIS
	case strings.HasPrefix(s, "@") || strings.HasPrefix(s, "%") || strings.Contains(s, "\n@"):
		return BibTeX
	}
	line, _, _ := strings.Cut(s, "\n")
	for _, h := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ';' || r == '\t' }) {
		if column(h) == "title" {
			return CSV
		}
	}
	return ""
}

// Read reads a whole list. Malformed input is a *SyntaxError, an unknown format
// ErrFormat; other errors are the reader's.
func Read(r io.Reader, format Format) ([]gleaner.Paper, error) {
	var out []gleaner.Paper
	err := Each(r, format, func(p gleaner.Paper) error {
		out = append(out, p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Each reads a list and hands on one paper after the other, holding no more than
// one record at a time. It stops at the first error, the callback's included.
func Each(r io.Reader, format Format, do func(gleaner.Paper) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	if b, err := br.Peek(3); err == nil && string(b) == "\ufeff" {
		_, _ = br.Discard(3)
	}
	switch format {
	case CSV:
		return eachCSV(br, do)
	case JSONL:
		return eachJSONL(br, do)
	case BibTeX:
		return eachBibTeX(br, do)
	case RIS:
		return eachRIS(br, do)
	}
	return fmt.Errorf("%q: %w", format, ErrFormat)
}

// Write writes papers in a format; what is written reads back the same, but for
// fields that the format lacks. RIS is written too.
func Write(w io.Writer, format Format, papers []gleaner.Paper) error {
	bw := bufio.NewWriter(w)
	var err error
	switch format {
	case CSV:
		err = writeCSV(bw, papers)
	case JSONL:
		err = writeJSONL(bw, papers)
	case BibTeX:
		err = writeBibTeX(bw, papers)
	case RIS:
		err = writeRIS(bw, papers)
	default:
		return fmt.Errorf("%q: %w", format, ErrFormat)
	}
	if err != nil {
		return err
	}
	return bw.Flush()
}
