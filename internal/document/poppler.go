package document

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// poppler reads a PDF with pdftotext. The first pages come with the places of
// their words, page sizes and metadata (-bbox-layout); the others, of which only
// the text counts, without: that takes a third less. next is asked about the
// first pages how much more to read.
func (j *job) poppler(ctx context.Context, next func(*scan) More) (*scan, error) {
	return j.r.inParts(pager{
		first: func(to int) (*scan, error) { return j.popplerFirst(ctx, to) },
		more:  func(s *scan, from, to int) error { return j.popplerMore(ctx, s, from, to) },
		count: func(s *scan) (int, error) { return j.pageCount(ctx, s.Front) },
	}, next)
}

// popplerMore adds pages as plain text. A child that dies on a later page does
// not undo what was read before it.
func (j *job) popplerMore(ctx context.Context, s *scan, from, to int) error {
	got, err := j.pdftotext(ctx, from, to, "-eol", "unix")
	if err != nil {
		return err
	}
	if !got.flooded {
		for text := range strings.SplitSeq(strings.TrimSuffix(string(got.stdout), "\f"), "\f") {
			if len(got.stdout) > 0 {
				s.Pages = append(s.Pages, page{Plain: strings.TrimRight(clean(text), "\n")})
			}
		}
	}
	s.Failed, s.Detail = popplerOutcome(got, len(s.Pages))
	return nil
}

func (j *job) popplerFirst(ctx context.Context, to int) (*scan, error) {
	got, err := j.pdftotext(ctx, 1, to, "-bbox-layout")
	if err != nil {
		return nil, err
	}
	s := &scan{Reader: "poppler"}
	if !got.flooded { // a flood is no text, and parsing it would take longer than it took to write
		parseBBox(got.stdout, s)
	}
	s.Failed, s.Detail = popplerOutcome(got, len(s.Pages))
	return s, nil
}

func (j *job) pdftotext(ctx context.Context, from, to int, flags ...string) (*run, error) {
	argv := append([]string{j.r.opt.PDFToText}, flags...)
	return j.run(ctx, j.r.plain(), nil,
		append(argv, "-enc", "UTF-8", "-f", strconv.Itoa(from), "-l", strconv.Itoa(to), j.file, "-")...)
}

// popplerOutcome reads exit codes (1: cannot open, 3: permissions) and, where
// these say too little, the complaint.
func popplerOutcome(got *run, pages int) (Outcome, string) {
	if o, detail := got.overLimit("pdftotext"); o != "" {
		return o, detail
	}
	switch {
	case strings.Contains(got.stderr, "Incorrect password"):
		return Encrypted, "wants a password"
	case got.exit == 3:
		return Encrypted, "forbids copying its text"
	case got.exit != 0 && pages == 0:
		return Unreadable, firstLine(got.stderr)
	case pages == 0:
		return Unreadable, "no pages: " + firstLine(got.stderr)
	}
	return "", ""
}

// overLimit names the limit over which a program was ended; "" for none. C++ programs die of
// one on memory with a word about it.
func (r *run) overLimit(program string) (Outcome, string) {
	outOfMemory := func(s string) bool { return strings.Contains(r.stderr, s) }
	switch {
	case r.late:
		return Timeout, program + " used up its processor time"
	case r.stalled:
		return Stalled, program + " was stopped by the clock or by the system"
	case r.flooded || slices.ContainsFunc([]string{"Out of memory", "bad_alloc", "out of memory", "cannot allocate", "/VMerror"}, outOfMemory):
		return TooLarge, program + " wanted more than allowed"
	}
	return "", ""
}

// pagesLine is the last of its kind: a title is printed before it with all its lines.
var pagesLine = regexp.MustCompile(`(?ms).*^Pages:\s+(\d+)`)

// pageCount asks pdfinfo; without it, or when that fails, what was read is all that is
// known.
func (j *job) pageCount(ctx context.Context, known int) (int, error) {
	if j.r.opt.PDFInfo == "" {
		return known, nil
	}
	got, err := j.run(ctx, j.r.plain(), nil, j.r.opt.PDFInfo, j.file)
	if err != nil {
		return 0, err
	}
	n := 0
	if m := pagesLine.FindSubmatch(got.stdout); m != nil {
		n, _ = strconv.Atoi(string(m[1])) // of more digits than a number has, the largest
	}
	return max(min(n, manyPages), known), nil
}
