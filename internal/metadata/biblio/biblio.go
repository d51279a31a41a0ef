package biblio

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

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
	DOI    Format = "doi"     // one DOI a line, and comments that begin with #; only read
	CSL    Format = "csljson" // the list of a citation processor; only written
)

// ErrFormat is the error of a format that is not known, or cannot be told.
var ErrFormat = errors.New("format not known: want csv (with a column title), jsonl, bibtex, ris or doi")

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

// SyntaxErrors are all that could not be read of one list, in its order.
type SyntaxErrors []*SyntaxError

// maxErrors is how many errors of one list are gathered; what follows so many is as
// likely not of the format at all.
const maxErrors = 50

// Error has a line for each.
func (es SyntaxErrors) Error() string {
	lines := make([]string, len(es), len(es)+1)
	for i, e := range es {
		lines[i] = e.Error()
	}
	if len(es) >= maxErrors {
		lines = append(lines, "and perhaps more, which were not looked for")
	}
	return strings.Join(lines, "\n")
}

func (es SyntaxErrors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
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
	case "doi", "dois":
		return DOI, nil
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
	case strings.HasPrefix(s, "{"), strings.HasPrefix(s, "["): // of a list is said that it is none of lines
		return JSONL
	case strings.HasPrefix(s, "TY  -"):
		return RIS
	case strings.HasPrefix(s, "@") || strings.HasPrefix(s, "%") || strings.Contains(s, "\n@"):
		return BibTeX
	}
	line, _, _ := strings.Cut(s, "\n")
	if gleaner.ParseDOI(line) != "" || strings.HasPrefix(line, "#") {
		return DOI
	}
	for _, h := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ';' || r == '\t' }) {
		if column(h) == "title" {
			return CSV
		}
	}
	return ""
}

// Text reads a text that begins with a byte order mark as UTF-8 without one, UTF-16 too, and
// any other as it is.
func Text(r io.Reader) io.Reader {
	return transform.NewReader(r, unicode.BOMOverride(transform.Nop))
}

// notUTF8 is the message for bytes that are not of that encoding.
const notUTF8 = "not UTF-8, perhaps Latin-1: save the file as UTF-8"

// Read reads a whole list. Malformed input is SyntaxErrors, which name everything
// that could not be read; an unknown format is ErrFormat; other errors are the
// reader's.
func Read(r io.Reader, format Format) ([]gleaner.Paper, error) {
	out, wrong, err := ReadSome(r, format)
	switch {
	case err != nil:
		return nil, err
	case len(wrong) > 0:
		return nil, wrong
	}
	return out, nil
}

// ReadSome reads what of a list can be read, and returns what cannot beside it. A list
// with too much of that is an error, SyntaxErrors; the others are those of Read.
func ReadSome(r io.Reader, format Format) (papers []gleaner.Paper, wrong SyntaxErrors, err error) {
	err = eachPaper(r, format, func(p gleaner.Paper) error {
		papers = append(papers, p)
		return nil
	}, func(e *SyntaxError) error {
		if wrong = append(wrong, e); len(wrong) >= maxErrors {
			return wrong
		}
		return nil
	})
	return papers, wrong, err
}

// eachPaper tells bad of what cannot be read, and goes on behind it unless bad returns
// an error.
func eachPaper(r io.Reader, format Format, do func(gleaner.Paper) error, bad func(*SyntaxError) error) error {
	br := bufio.NewReaderSize(Text(r), 64<<10)
	switch format {
	case CSV:
		return eachCSV(br, do, bad)
	case JSONL:
		return eachJSONL(br, do, bad)
	case BibTeX:
		return newBibReader(br).each(do, bad)
	case RIS:
		return eachRIS(br, do, bad)
	case DOI:
		return eachDOI(br, do, bad)
	}
	return fmt.Errorf("%q: %w", format, ErrFormat)
}

// tell tells bad of an error of the input; every other error is returned.
func tell(err error, bad func(*SyntaxError) error) error {
	if wrong, ok := errors.AsType[*SyntaxError](err); ok {
		return bad(wrong)
	}
	return err
}

// take hands on a paper that can be told from others. What begins at a line and has
// neither a title nor a DOI is an error: it would count as held and match nothing.
func take(p gleaner.Paper, line int, do func(gleaner.Paper) error, bad func(*SyntaxError) error) error {
	if p.Title == "" && p.DOI == "" {
		return tell(failAt(line, 1, "what begins here has neither a title nor a DOI"), bad)
	}
	return do(p)
}

// eachLine has lines of at most so many bytes read, and hands on the papers that end with
// them: each with the line at which it begins, 0 where none ends.
func eachLine(
	br *bufio.Reader, most int, read func(s string, line int) (p gleaner.Paper, begins int, err error),
	do func(gleaner.Paper) error, bad func(*SyntaxError) error,
) error {
	sc := bufio.NewScanner(br)
	sc.Buffer(make([]byte, min(64<<10, most)), most)
	line := 1
	for ; sc.Scan(); line++ {
		p, begins, err := read(sc.Text(), line)
		if err != nil {
			err = tell(err, bad)
		} else if begins > 0 {
			err = take(p, begins, do, bad)
		}
		if err != nil {
			return err
		}
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		return tell(failAt(line, 0, "longer than %d bytes", most), bad)
	}
	return sc.Err()
}

// Write writes papers in a format; what is written reads back the same, but for
// fields that the format lacks. CSV and JSON Lines leave out the file.
func Write(w io.Writer, format Format, entries []Entry) error {
	bw := bufio.NewWriter(w)
	var err error
	switch format {
	case CSV:
		err = writeCSV(bw, entries)
	case JSONL:
		err = writeJSONL(bw, entries)
	case BibTeX:
		err = writeBibTeX(bw, entries)
	case RIS:
		err = writeRIS(bw, entries)
	case CSL:
		err = writeCSL(bw, entries)
	default:
		return fmt.Errorf("%q: %w", format, ErrFormat)
	}
	if err != nil {
		return err
	}
	return bw.Flush()
}
