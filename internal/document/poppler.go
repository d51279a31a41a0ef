package document

import (
	"context"
	"regexp"
	"strconv"
	"strings"
)

// poppler reads a PDF with pdftotext. One child delivers text, the places of
// the words, page sizes and metadata (-bbox-layout, a quarter slower than plain
// text); a file longer than FirstPages costs two more: its page count and its
// end.
func (r *Reader) poppler(ctx context.Context, p Part) (*scan, error) {
	file, remove, err := tempFile(r.opt.TempDir, "gleaner-*.pdf", p.Body)
	if err != nil {
		return nil, err
	}
	defer remove()
	s, err := r.pdftotext(ctx, file, 1, r.opt.FirstPages)
	if err != nil || s.Failed != "" {
		return s, err
	}
	s.Front, s.PageCount = len(s.Pages), len(s.Pages)
	if len(s.Pages) < r.opt.FirstPages {
		return s, nil
	}
	if s.PageCount, err = r.pageCount(ctx, file, len(s.Pages)); err != nil {
		return nil, err
	}
	if s.PageCount <= s.Front {
		return s, nil
	}
	from := max(s.Front+1, s.PageCount-r.opt.LastPages+1)
	tail, err := r.pdftotext(ctx, file, from, s.PageCount)
	if err != nil {
		return nil, err
	}
	s.Pages = append(s.Pages, tail.Pages...)
	s.PeakRSS = max(s.PeakRSS, tail.PeakRSS)
	return s, nil
}

func (r *Reader) pdftotext(ctx context.Context, file string, from, to int) (*scan, error) {
	got, err := runChild(ctx, nil, limited(r.opt.Memory, r.opt.Timeout,
		r.opt.PDFToText, "-bbox-layout", "-enc", "UTF-8", "-f", strconv.Itoa(from), "-l", strconv.Itoa(to), file, "-")...)
	if err != nil {
		return nil, err
	}
	s := &scan{Reader: "poppler", PeakRSS: got.peak}
	if !got.flooded { // a flood is no text, and parsing it would take longer than it took to write
		parseBBox(got.stdout, s)
	}
	s.Failed, s.Detail = popplerOutcome(got, len(s.Pages))
	return s, nil
}

// popplerOutcome reads exit codes (1: cannot open, 3: permissions) and, where
// these say too little, the complaint.
func popplerOutcome(got *run, pages int) (Outcome, string) {
	switch {
	case got.killed:
		return Timeout, "pdftotext was stopped at its deadline"
	case got.flooded:
		return TooLarge, "pdftotext wrote more than can be text"
	case strings.Contains(got.stderr, "Incorrect password"):
		return Encrypted, "wants a password"
	case got.exit == 3:
		return Encrypted, "forbids copying its text"
	case outOfMemory(got):
		return TooLarge, "pdftotext wanted more memory than allowed"
	case got.exit != 0 && pages == 0:
		return Unreadable, firstLine(got.stderr)
	case pages == 0:
		return Unreadable, "no pages: " + firstLine(got.stderr)
	}
	return "", ""
}

// outOfMemory knows how C++ programs die of a limit on memory: with a word
// about it, or by abort and segmentation fault (-1 in Go's exit codes).
func outOfMemory(got *run) bool {
	for _, s := range []string{"Out of memory", "bad_alloc", "out of memory", "cannot allocate"} {
		if strings.Contains(got.stderr, s) {
			return true
		}
	}
	return false
}

var pagesLine = regexp.MustCompile(`(?m)^Pages:\s+(\d+)`)

// pageCount asks pdfinfo; without it, or when that fails, what was read is all
// that is known.
func (r *Reader) pageCount(ctx context.Context, file string, known int) (int, error) {
	if r.opt.PDFInfo == "" {
		return known, nil
	}
	got, err := runChild(ctx, nil, limited(r.opt.Memory, r.opt.Timeout, r.opt.PDFInfo, file)...)
	if err != nil {
		return 0, err
	}
	m := pagesLine.FindSubmatch(got.stdout)
	if m == nil {
		return known, nil
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return known, nil
	}
	return max(n, known), nil
}
