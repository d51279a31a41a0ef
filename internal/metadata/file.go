package metadata

import (
	"cmp"
	"os"

	"gleaner/internal/gleaner"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/text"
)

// ReadFile reads a file that lists the papers of a venue, in any format of biblio, and returns
// those of the years, and the errors of entries that are left out. A paper without a year counts if
// a single year is asked for. The error of malformed input is biblio.SyntaxErrors, each with line
// and column.
func ReadFile(path, venue string, years gleaner.Years) (out []gleaner.Paper, leftOut biblio.SyntaxErrors, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	all, leftOut, err := biblio.Read(detected(path, file))
	if err = cmp.Or(err, leftOut.Refusal(len(all))); err != nil {
		return nil, nil, err
	}
	for _, p := range all {
		p.Year = cmp.Or(p.Year, years.Single())
		if !years.Contains(p.Year) || isFrontMatter(p.Title) {
			continue
		}
		p.Venue = venue
		switch {
		case p.Key != "":
		case p.Title == "":
			p.Key = "doi:" + p.DOI
		default:
			p.Key = "file:" + text.Normalise(p.Title)
		}
		out = append(out, p)
	}
	return out, leftOut, nil
}
