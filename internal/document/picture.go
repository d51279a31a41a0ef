package document

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrNoPicture is returned where a file cannot be drawn: it is no PDF, poppler's
// pdftoppm is not installed, or it does not draw it in the time that it has.
var ErrNoPicture = errors.New("no picture can be made of this file")

// pictureTime is the processor time to draw one page, and pictureWait the time by the
// clock.
const (
	pictureTime = 5 * time.Second
	pictureWait = 20 * time.Second
)

// Picture draws the first page of a PDF as a PNG of 800 pixels a side at most, as
// shut in as all that reads files.
func (r *Reader) Picture(ctx context.Context, body []byte) ([]byte, error) {
	if r.opt.PDFToPPM == "" || Sniff("", "", body) != PDF || len(body) > r.opt.MaxBytes {
		return nil, ErrNoPicture
	}
	ctx, cancel := context.WithTimeout(ctx, pictureWait)
	defer cancel()
	j, remove, err := r.newJob(body, "in.pdf", pictureTime)
	if err != nil {
		return nil, err
	}
	defer remove()
	got, err := j.run(ctx, r.plain(), nil, r.opt.PDFToPPM, "-png", "-singlefile", "-f", "1", "-l", "1", "-scale-to", "800", j.file, j.dir+"/page")
	if err != nil {
		return nil, err
	}
	if got.exit != 0 || got.late || got.stalled {
		return nil, fmt.Errorf("%w: %s", ErrNoPicture, firstLine(got.stderr))
	}
	return j.written("page.png")
}
