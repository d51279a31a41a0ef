package metadata

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/metadata/biblio"
)

// ReadList reads a list of papers that a person has, and returns beside them what of it
// cannot be read. Its format is told from its name and its beginning (biblio.ErrFormat).
// Papers that no catalogue can mean are left out, as Sound does.
func ReadList(ctx context.Context, log *slog.Logger, name string, r io.Reader) ([]gleaner.Paper, biblio.SyntaxErrors, error) {
	r, head := biblio.Text(r), make([]byte, 4096)
	n, _ := io.ReadFull(r, head)
	whole := io.MultiReader(strings.NewReader(string(head[:n])), r)
	papers, wrong, err := biblio.ReadSome(whole, biblio.Detect(name, head[:n]))
	if err != nil {
		return nil, nil, err
	}
	papers, err = Sound(ctx, log, name, papers)
	return papers, wrong, err
}
