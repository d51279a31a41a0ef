package collection

import (
	"context"
	"io"

	"gleaner/internal/document"
)

// largestDrawn is the greatest size in bytes of a file whose picture is made.
const largestDrawn = 32 << 20

// Picture draws the first page of a document. The error is document.ErrNoPicture if that is
// impossible.
func (c *Collection) Picture(ctx context.Context, sha string) ([]byte, error) {
	release, err := c.takeCore(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	file, err := c.repo.Get(ctx, sha)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	body, err := io.ReadAll(io.LimitReader(file, largestDrawn+1))
	if err != nil {
		return nil, err
	}
	if len(body) > largestDrawn {
		return nil, document.ErrNoPicture
	}
	return c.reader.Picture(ctx, body)
}
