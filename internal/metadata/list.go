package metadata

import (
	"bytes"
	"context"
	"io"
	"log/slog"

	"gleaner/internal/gleaner"
	"gleaner/internal/metadata/biblio"
)

// ReadList reads a list of papers, and returns beside them the errors of what it cannot read. Its
// format is detected by its name and its beginning (biblio.ErrFormat). Papers that Sound refuses
// are left out.
func ReadList(ctx context.Context, log *slog.Logger, name string, r io.Reader) ([]gleaner.Paper, biblio.SyntaxErrors, error) {
	papers, wrong, err := biblio.Read(detected(name, r))
	if err != nil {
		return nil, nil, err
	}
	papers, err = Sound(ctx, log, name, papers)
	return papers, wrong, err
}

// detected returns a list, from its beginning, and its format.
func detected(name string, r io.Reader) (io.Reader, biblio.Format) {
	r = biblio.Text(r)
	head := make([]byte, 4096)
	n, _ := io.ReadFull(r, head)
	return io.MultiReader(bytes.NewReader(head[:n]), r), biblio.Detect(name, head[:n])
}
