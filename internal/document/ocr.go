package document

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// recognise reads pictures of pages: with ocrmypdf, whose result poppler reads, or
// with tesseract, page by page as poppler draws them. Where neither is installed,
// or nothing is recognised, the outcome stays what it was, and says so.
func (r *Reader) recognise(ctx context.Context, p Part, t *Text) error {
	octx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opt.OCRTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if ctx.Err() == context.Canceled { // and not the deadline of the readers before
			cancel()
		}
	})
	defer stop()
	dir, err := os.MkdirTemp(r.opt.TempDir, "gleaner-ocr-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	in := filepath.Join(dir, "in.pdf")
	if err := os.WriteFile(in, p.Body, 0o600); err != nil {
		return err
	}
	var s *scan
	switch {
	case r.opt.OCRmyPDF != "" && r.opt.PDFToText != "":
		s, err = r.ocrmypdf(octx, dir, in)
	case r.opt.Tesseract != "" && r.opt.PDFToPPM != "":
		s, err = r.tesseract(octx, dir, in, t.PageCount)
	default:
		t.Detail += "; recognition is allowed, but neither ocrmypdf nor tesseract with pdftoppm is installed"
		return nil
	}
	if err != nil {
		return err
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
	s.Title, s.Author, s.Creator, s.PeakRSS = was.Title, was.Author, was.Creator, max(was.PeakRSS, s.PeakRSS)
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

// ocrMemory is what recognition may use, in bytes: a page of 300 dots an inch and
// the network that reads it take more than the text of a PDF.
const ocrMemory = 2 << 30

func (r *Reader) ocrmypdf(ctx context.Context, dir, in string) (*scan, error) {
	out := filepath.Join(dir, "out.pdf")
	got, err := runChild(ctx, []string{"TMPDIR=" + dir, "OMP_THREAD_LIMIT=1"}, limited(ocrMemory, r.opt.OCRTimeout, r.opt.OCRmyPDF, "--quiet", "--force-ocr",
		"--jobs", "1", "--pages", "1-"+strconv.Itoa(r.opt.FirstPages), "--output-type", "pdf", in, out)...)
	if err != nil {
		return nil, err
	}
	if got.exit != 0 || got.killed {
		return &scan{Reader: "ocrmypdf", Failed: Unreadable, Detail: firstLine(got.stderr), PeakRSS: got.peak}, nil
	}
	s, err := r.pdftotext(ctx, out, 1, r.opt.FirstPages)
	if err == nil {
		s.Reader, s.PeakRSS = "ocrmypdf", max(s.PeakRSS, got.peak)
	}
	return s, err
}

// tesseract reads one page after the other, until the time is over: the first
// pages count most.
func (r *Reader) tesseract(ctx context.Context, dir, in string, pages int) (*scan, error) {
	s := &scan{Reader: "tesseract"}
	for n := 1; n <= min(max(pages, 1), r.opt.FirstPages); n++ {
		if n > 1 && ctx.Err() != nil {
			break
		}
		text, failed, err := r.tesseractPage(ctx, dir, in, n, s)
		if err != nil {
			return nil, err
		}
		if failed != "" && n == 1 {
			s.Failed, s.Detail = Unreadable, failed
			return s, nil
		}
		if failed != "" {
			break
		}
		s.Pages = append(s.Pages, page{Plain: joined(text)})
	}
	return s, nil
}

// tesseractPage draws one page in grey at 300 dots an inch and reads it. failed is
// what a program complained of.
func (r *Reader) tesseractPage(ctx context.Context, dir, in string, n int, s *scan) (text, failed string, err error) {
	at := strconv.Itoa(n)
	picture := filepath.Join(dir, "page")
	for _, argv := range [][]string{
		{r.opt.PDFToPPM, "-r", "300", "-gray", "-singlefile", "-f", at, "-l", at, in, picture},
		{r.opt.Tesseract, picture + ".pgm", "-"},
	} {
		got, err := runChild(ctx, []string{"TMPDIR=" + dir, "OMP_THREAD_LIMIT=1"}, limited(ocrMemory, r.opt.OCRTimeout, argv...)...)
		switch {
		case err != nil:
			return "", "", err
		case got.killed:
			return "", "it took too long", nil
		case got.exit != 0:
			return "", "page " + at + ": " + firstLine(got.stderr), nil
		}
		s.PeakRSS = max(s.PeakRSS, got.peak)
		text = string(got.stdout)
	}
	return strings.Trim(clean(text), "\f\n "), "", nil
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

// ocrTimeout is for how long one document is recognised, unless the options say
// otherwise: less than a document belongs to the worker that took it.
const ocrTimeout = 45 * time.Second
