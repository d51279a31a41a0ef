package biblio

import (
	"io"

	"gleaner/internal/gleaner"
)

// Each reads a list and hands on one paper after the other, holding no more than
// one record at a time. It stops at the first error, the callback's included.
func Each(r io.Reader, format Format, do func(gleaner.Paper) error) error {
	return each(r, format, do, func(e *SyntaxError) error { return e })
}
