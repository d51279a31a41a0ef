package document

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// recognise reads pictures of pages with tesseract, page by page as poppler draws them.
// Where it is not installed, or nothing is recognised, the outcome stays what it was, and
// says so. The first pages alone are read, which tell what a document is.
func (r *Reader) recognise(ctx context.Context, j *job, t *Text) error {
	octx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opt.OCRWait)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if ctx.Err() == context.Canceled { // and not the deadline of the readers before
			cancel()
		}
	})
	defer stop()
	j.cpu = r.opt.OCRTime
	if !r.Recognises() {
		t.Detail += "; recognition is allowed, but tesseract or poppler's pdftoppm is not installed"
		return nil
	}
	s, err := j.tesseract(octx, t.PageCount)
	if err != nil {
		return err
	}
	if s.Failed == Stalled {
		t.end(Stalled, "recognition: "+s.Detail)
		return nil
	}
	t.recognised(s, r.opt.MinWords)
	return nil
}

// recognised takes over what was recognised, if that is a text.
func (t *Text) recognised(s *scan, minWords int) {
	if s.Failed != "" {
		t.Detail += "; recognition failed: " + s.Detail
		return
	}
	was := *t
	t.Pages = nil
	s.PageCount, s.Front = was.PageCount, len(s.Pages)
	s.Title = was.Title
	t.fill(s)
	if t.Width == 0 { // no places of words
		t.Width, t.Height = was.Width, was.Height
		t.First = plainLayout(t.Pages, was.Width, was.Height)
	}
	if t.Words() < minWords || t.garbled() {
		*t = was
		t.Detail += "; nothing was recognised on its pages"
		return
	}
	t.end(OK, "recognised from pictures")
}

// ocrLimits are what recognition may use: a page of 300 dots an inch and the
// network that reads it take more than the text of a PDF.
var ocrLimits = limits{memory: 2 << 30, file: 512 << 20, folder: 1 << 30}

// tesseract reads one page after the other, until the time is over: the first
// pages count most.
func (j *job) tesseract(ctx context.Context, pages int) (*scan, error) {
	s := &scan{Reader: "tesseract"}
	for n := 1; n <= min(max(pages, 1), j.r.opt.FirstPages, VerdictPages); n++ {
		if n > 1 && ctx.Err() != nil {
			break
		}
		text, outcome, detail, err := j.tesseractPage(ctx, n)
		if err != nil {
			return nil, err
		}
		if n == 1 {
			s.Failed, s.Detail = outcome, detail
		}
		if outcome != "" {
			break
		}
		s.Pages = append(s.Pages, page{Plain: joined(text)})
	}
	return s, nil
}

// tesseractPage draws one page in grey at 300 dots an inch and reads it. The
// outcome is "" for a page that was read.
func (j *job) tesseractPage(ctx context.Context, n int) (text string, o Outcome, detail string, err error) {
	at := strconv.Itoa(n)
	picture := filepath.Join(j.dir, "page")
	for _, argv := range [][]string{
		{j.r.opt.PDFToPPM, "-r", "300", "-gray", "-singlefile", "-f", at, "-l", at, j.file, picture},
		{j.r.opt.Tesseract, picture + ".pgm", "-"},
	} {
		got, err := j.run(ctx, ocrLimits, []string{"OMP_THREAD_LIMIT=1"}, argv...)
		switch {
		case err != nil:
			return "", "", "", err
		case got.late:
			return "", Timeout, "it took too long", nil
		case got.stalled:
			return "", Stalled, "page " + at + " was stopped by the clock or by the system", nil
		case got.exit != 0:
			return "", Unreadable, "page " + at + ": " + firstLine(got.stderr), nil
		}
		text = string(got.stdout)
	}
	return strings.Trim(clean(text), "\f\n "), "", "", nil
}

// joined makes the words whole that a line's end has broken.
func joined(text string) string {
	p := page{}
	block := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			block++
			continue
		}
		p.Lines = append(p.Lines, Line{Text: line, Block: block})
	}
	return p.text()
}

// ocrTime is the processor time for which one document is recognised, unless the
// options say otherwise.
const ocrTime = 45 * time.Second
