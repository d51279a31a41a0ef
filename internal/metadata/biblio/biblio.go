package biblio

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"gleaner/internal/each"
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
	Untitled     bool // an entry with neither a title nor a DOI
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
	lines := each.Of(es[:min(len(es), maxErrors)], (*SyntaxError).Error)
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

// Read reads a list, and returns beside its papers the errors of what cannot be read. A list
// with too many of them is an error, SyntaxErrors; an unknown format is ErrFormat; other errors
// are the reader's.
func Read(r io.Reader, format Format) (papers []gleaner.Paper, wrong SyntaxErrors, err error) {
	faults := 0
	for p, err := range papersIn(r, format) {
		e, malformed := errors.AsType[*SyntaxError](err)
		switch {
		case malformed:
			if e.Untitled {
				e.Msg = fmt.Sprintf("entry %d has neither a title nor a DOI", len(papers)+len(wrong)+1)
			} else {
				faults++
			}
			if wrong = append(wrong, e); max(faults, len(wrong)-len(papers)) >= maxErrors {
				return papers, wrong, wrong
			}
		case err != nil:
			return papers, wrong, err
		default:
			papers = append(papers, p)
		}
	}
	return papers, wrong, nil
}

// Refusal returns the errors of a list of so many papers, unless it can do without what has them:
// entries with neither a title nor a DOI, beside others.
func (es SyntaxErrors) Refusal(papers int) error {
	if len(es) > 0 && (papers == 0 || slices.ContainsFunc(es, func(e *SyntaxError) bool { return !e.Untitled })) {
		return es
	}
	return nil
}

// papersIn reads a list paper by paper. After a *SyntaxError it continues; any other error is the
// last.
func papersIn(r io.Reader, format Format) iter.Seq2[gleaner.Paper, error] {
	br := bufio.NewReaderSize(Text(r), 64<<10)
	switch format {
	case CSV:
		return csvPapers(br)
	case JSONL:
		return jsonPapers(br)
	case BibTeX:
		return newBibReader(br).papers
	case RIS:
		return risPapers(br)
	case DOI:
		return doiPapers(br)
	}
	return func(yield func(gleaner.Paper, error) bool) {
		yield(gleaner.Paper{}, fmt.Errorf("%q: %w", format, ErrFormat))
	}
}

// identified returns an error for a paper that begins at a line and has neither a title nor a DOI:
// it would count as held and match nothing.
func identified(p gleaner.Paper, line int) error {
	if p.Title == "" && p.DOI == "" {
		return &SyntaxError{Line: line, Column: 1, Untitled: true}
	}
	return nil
}

// byLine reads a list by lines of at most so many bytes. read returns the paper that ends with a
// line, and the line at which that begins, or 0 if none ends.
func byLine(
	br *bufio.Reader, most int, read func(s string, line int) (p gleaner.Paper, begins int, err error),
) iter.Seq2[gleaner.Paper, error] {
	return func(yield func(gleaner.Paper, error) bool) {
		sc := bufio.NewScanner(br)
		sc.Buffer(make([]byte, min(64<<10, most)), most)
		line := 1
		for ; sc.Scan(); line++ {
			p, begins, err := read(sc.Text(), line)
			if err == nil && begins > 0 {
				err = identified(p, begins)
			}
			if (err != nil || begins > 0) && !yield(p, err) {
				return
			}
		}
		err := sc.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = failAt(line, 0, "longer than %d bytes", most)
		}
		if err != nil {
			yield(gleaner.Paper{}, err)
		}
	}
}

// Write writes papers in a format. Reading them gives the same papers, without fields that the
// format lacks. CSV and JSON Lines leave out the file.
func Write(w io.Writer, format Format, entries []Entry) error {
	write := map[Format]func(*bufio.Writer, []Entry){
		CSV: writeCSV, JSONL: writeJSONL, BibTeX: writeBibTeX, RIS: writeRIS, CSL: writeCSL,
	}[format]
	if write == nil {
		return fmt.Errorf("%q: %w", format, ErrFormat)
	}
	bw := bufio.NewWriter(w)
	write(bw, entries) // bw keeps its first error
	return bw.Flush()
}
