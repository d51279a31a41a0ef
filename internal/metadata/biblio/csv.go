package biblio

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// column is the field that a header names, or "".
func column(header string) string {
	h := strings.ToLower(strings.Trim(strings.TrimSpace(header), `"'`))
	h = strings.NewReplacer("_", " ", "-", " ").Replace(h)
	switch h {
	case "title", "titel", "titre", "título", "paper title", "article title", "document title", "name", "item title":
		return "title"
	case "year", "publication year", "pub year", "py", "date", "published", "jahr", "année":
		return "year"
	case "authors", "author", "creator", "creators", "author(s)", "author full names", "au",
		"autor", "autoren", "verfasser", "auteur", "auteurs", "auteur(s)", "autor(es)", "autores":
		return "authors"
	case "doi", "doi link":
		return "doi"
	case "key", "id", "dblp", "dblp key", "citekey", "citation key", "item id":
		return "key"
	case "venue", "booktitle", "journal", "source title", "publication title", "conference":
		return "venue"
	case "arxiv", "arxiv id", "eprint":
		return "arxiv"
	case "pages", "page":
		return "pages"
	case "url", "link", "links", "urls":
		return "links"
	}
	return ""
}

// Unread returns the headers of the columns that are not read of a list that is a table.
func Unread(name string, list io.Reader) (headers []string) {
	br := bufio.NewReader(list)
	head, _ := br.Peek(4096)
	in, err := table(br)
	if err != nil || Detect(name, head) != CSV {
		return nil
	}
	header, _ := in.Read()
	return each.Where(header, func(h string) bool { return strings.TrimSpace(h) != "" && column(h) == "" })
}

// table begins to read a table.
func table(br *bufio.Reader) (*csv.Reader, error) {
	comma, err := delimiter(br)
	in := csv.NewReader(br)
	in.Comma, in.FieldsPerRecord, in.ReuseRecord = comma, -1, true
	return in, err
}

func csvPapers(br *bufio.Reader) iter.Seq2[gleaner.Paper, error] {
	return func(yield func(gleaner.Paper, error) bool) {
		var header []string
		in, err := table(br)
		if err == nil {
			header, err = in.Read()
		}
		columns := each.Of(header, column)
		switch {
		case err == io.EOF:
			err = failAt(1, 0, "the file is empty: want a header line with a column named title")
		case err != nil:
		case !utf8.ValidString(strings.Join(header, "")):
			err = failAt(1, 1, notUTF8)
		case !slices.Contains(columns, "title"):
			err = failAt(1, 1, "no column named title in the header %q", strings.Join(header, string(in.Comma)))
		}
		if err != nil {
			yield(gleaner.Paper{}, csvError(err))
			return
		}
		for more := true; more; {
			row, err := in.Read()
			if err == io.EOF {
				return
			}
			if err == nil && !slices.ContainsFunc(row, func(cell string) bool { return strings.TrimSpace(cell) != "" }) {
				continue // spreadsheets leave such rows
			}
			var p gleaner.Paper
			if err == nil {
				p, err = paperOfRow(in, columns, row)
			}
			more = yield(p, csvError(err))
		}
	}
}

func paperOfRow(in *csv.Reader, columns, row []string) (gleaner.Paper, error) {
	var p gleaner.Paper
	line, _ := in.FieldPos(0)
	if len(row) > len(columns) {
		line, col := in.FieldPos(len(columns))
		return p, failAt(line, col, "%d fields in the row, %d in the header: quote a field that holds the delimiter", len(row), len(columns))
	}
	if len(row) < len(columns) {
		return p, failAt(line, 0, "%d fields in the row, %d in the header", len(row), len(columns))
	}
	for i, v := range row {
		v = cellOf(v)
		l, col := in.FieldPos(i)
		if !utf8.ValidString(v) {
			return p, failAt(l, col, notUTF8)
		}
		switch columns[i] {
		case "title":
			p.Title = clean(v)
		case "year":
			y, ok := yearOf(v)
			if !ok {
				return p, failAt(l, col, "%q is not a year", v)
			}
			p.Year = y
		case "authors":
			p.Authors = authorsOf(v)
		case "doi":
			p.DOI = gleaner.ParseDOI(v)
		case "key":
			p.Key = strings.TrimSpace(v)
		case "venue":
			p.Venue = strings.TrimSpace(v)
		case "arxiv":
			p.ArXiv = gleaner.ParseArXiv(v)
		case "pages":
			p.Pages = strings.TrimSpace(v)
		case "links":
			if v != "" {
				p.Links = strings.Fields(v)
			}
		}
	}
	return p, identified(p, line)
}

// delimiter takes the sign that occurs most in the header line, outside quotes.
func delimiter(br *bufio.Reader) (rune, error) {
	head, err := br.Peek(br.Size())
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return 0, err
	}
	if i := bytes.IndexByte(head, 0); i >= 0 {
		line := 1 + bytes.Count(head[:i], []byte("\n"))
		return 0, failAt(line, 0, "a zero byte: not a text file, or UTF-16 without a mark: save it as UTF-8")
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	best, most, quoted := ',', 0, false
	count := map[rune]int{}
	for _, c := range string(line) {
		switch {
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ';' || c == '\t' || c == '|'):
			if count[c]++; count[c] > most {
				best, most = c, count[c]
			}
		}
	}
	return best, nil
}

func csvError(err error) error {
	if pe, ok := errors.AsType[*csv.ParseError](err); ok {
		return failAt(pe.Line, pe.Column, "%v", pe.Err)
	}
	return err
}

func writeCSV(w *bufio.Writer, entries []Entry) {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"key", "venue", "year", "title", "authors", "doi", "arxiv", "pages", "links"})
	for _, p := range entries {
		row := []string{p.Key, p.Venue, Year(p.Year), p.Title, strings.Join(gleaner.Names(p.Authors), "; "), p.DOI, p.ArXiv, p.Pages, strings.Join(p.Links, " ")}
		for i := range row {
			row[i] = Cell(row[i])
		}
		_ = out.Write(row)
	}
	out.Flush()
}

// Year is a year as text, "" for 0, which is unknown.
func Year(year int) string {
	if year == 0 {
		return ""
	}
	return strconv.Itoa(year)
}

// Cell makes text safe for a spreadsheet, which would run a cell that begins like
// a formula: such a cell gets an apostrophe before it, which reading takes off.
// Control characters are left out.
func Cell(s string) string {
	s = plain(s)
	if looksFormula(s) {
		return "'" + s
	}
	return s
}

func cellOf(s string) string {
	if rest, ok := strings.CutPrefix(s, "'"); ok && looksFormula(rest) {
		return rest
	}
	return s
}

// looksFormula is true, too, of what stands behind blanks and apostrophes: some
// programs pass over the first, and what Cell wrote must read back.
func looksFormula(s string) bool {
	s = strings.TrimLeft(s, " '\t\r\n\u00a0")
	return s != "" && strings.ContainsRune("=+-@\uff1d\uff0b\uff0d\uff20", []rune(s)[0])
}
