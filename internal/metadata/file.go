package metadata

import (
	"cmp"
	"context"
	"io"
	"os"

	"gleaner/internal/gleaner"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/text"
)

// File is a list of a venue's papers that a person has: BibTeX, RIS, CSV, JSON Lines
// or DOIs.
type File struct {
	path   string
	format biblio.Format
}

// NewFile returns the source. An empty format is told from the file itself.
func NewFile(path string, format biblio.Format) *File { return &File{path, format} }

// Papers lists the file's papers of the years; those without a year are kept
// when a single year is asked for. The whole file is taken for the venue's.
// Malformed input is biblio.SyntaxErrors, each with line and column.
func (f *File) Papers(ctx context.Context, v gleaner.Venue, years gleaner.Years) ([]gleaner.Paper, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	format := f.format
	if format == "" {
		head := make([]byte, 512)
		n, _ := io.ReadFull(biblio.Text(io.NewSectionReader(file, 0, int64(len(head)))), head)
		format = biblio.Detect(f.path, head[:n])
	}
	all, err := biblio.Read(file, format)
	if err != nil {
		return nil, err
	}
	var out []gleaner.Paper
	for _, p := range all {
		p.Year = cmp.Or(p.Year, years.Single())
		if !years.Contains(p.Year) || isFrontMatter(p.Title) {
			continue
		}
		p.Venue = v.Key
		switch {
		case p.Key != "":
		case p.Title == "":
			p.Key = "doi:" + p.DOI
		default:
			p.Key = "file:" + text.Normalise(p.Title)
		}
		out = append(out, p)
	}
	return out, ctx.Err()
}
