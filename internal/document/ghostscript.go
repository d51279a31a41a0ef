package document

import (
	"context"
	"os"
	"strconv"
	"strings"
)

// readPostScript runs ghostscript's text device in its safe mode. Ghostscript
// is a whole language's interpreter, so the file is given to it as hostile: no
// file access (-dSAFER), no prompt, bounded time, memory and pages.
func (r *Reader) readPostScript(ctx context.Context, p Part, t *Text) error {
	if r.opt.Ghostscript == "" {
		t.end(NoReader, "PostScript needs ghostscript, which is not installed")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.opt.Timeout)
	defer cancel()
	file, remove, err := tempFile(r.opt.TempDir, "gleaner-*.ps", p.Body)
	if err != nil {
		return err
	}
	defer remove()
	got, err := runChild(ctx, []string{"TMPDIR=" + os.TempDir()}, limited(r.opt.Memory, r.opt.Timeout,
		r.opt.Ghostscript, "-q", "-dSAFER", "-dNOPAUSE", "-dBATCH", "-dNOPROMPT",
		"-sDEVICE=txtwrite", "-dTextFormat=3", "-sOutputFile=-", "-sstdout=%stderr", "-f", file)...)
	if err != nil {
		return err
	}
	t.Reader, t.PeakRSS = "ghostscript", got.peak
	r.settlePostScript(p, t, got)
	return nil
}

func (r *Reader) settlePostScript(p Part, t *Text, got *run) {
	all := strings.Split(strings.TrimRight(clean(string(got.stdout)), "\f\n "), "\f")
	t.PageCount = max(len(all), dscPages(p.Body))
	t.Pages, t.Front = r.ends(all)
	t.Skipped = max(0, t.PageCount-len(t.Pages))
	t.Width, t.Height = dscBox(p.Body)
	t.Title = dscTitle(p.Body)
	t.First = plainLayout(t.Pages, t.Width, t.Height)
	words := t.Words()
	switch {
	case got.killed && words < r.opt.MinWords:
		t.end(Timeout, "ghostscript was stopped at its deadline")
	case outOfMemory(got) && words < r.opt.MinWords, got.flooded:
		t.end(TooLarge, "ghostscript wanted more than allowed")
	case words >= r.opt.MinWords && (got.killed || got.exit != 0):
		t.end(Truncated, "ghostscript stopped before the end; text was saved")
	case words >= r.opt.MinWords:
		t.end(OK, "")
	case got.exit != 0:
		t.end(Unreadable, firstLine(got.stderr))
	case strings.Contains(string(head(p.Body, 1<<20)), "image"):
		t.end(ImageOnly, "pages of pictures or of bitmap letters, without text")
	default:
		t.end(EmptyFile, "pages without text")
	}
}

// ends keeps the first and last pages that the options ask for.
func (r *Reader) ends(all []string) (kept []string, front int) {
	if len(all) <= r.opt.FirstPages+r.opt.LastPages {
		return all, len(all)
	}
	kept = append(kept, all[:r.opt.FirstPages]...)
	return append(kept, all[len(all)-r.opt.LastPages:]...), r.opt.FirstPages
}

// plainLayout is the layout of a page of which only the text is known.
func plainLayout(pages []string, w, h float64) Layout {
	l := Layout{Width: w, Height: h}
	if len(pages) == 0 {
		return l
	}
	for line := range strings.Lines(pages[0]) {
		if s := strings.TrimSpace(line); s != "" {
			l.Lines = append(l.Lines, Line{Text: s})
		}
	}
	return l
}

// dsc finds a document structuring comment such as "%%Pages: 12".
func dsc(b []byte, key string) string {
	for _, part := range [][]byte{head(b, 8<<10), b[max(0, len(b)-4<<10):]} {
		for line := range strings.Lines(string(part)) {
			if v, ok := strings.CutPrefix(line, "%%"+key+":"); ok && !strings.Contains(v, "(atend)") {
				return strings.TrimSpace(v)
			}
		}
	}
	return ""
}

func dscPages(b []byte) int {
	f := strings.Fields(dsc(b, "Pages"))
	if len(f) == 0 {
		return 0
	}
	n, err := strconv.Atoi(f[0])
	if err != nil || n < 0 || n > 100000 {
		return 0
	}
	return n
}

func dscBox(b []byte) (w, h float64) {
	f := strings.Fields(dsc(b, "BoundingBox"))
	if len(f) != 4 {
		return 0, 0
	}
	var v [4]float64
	for i := range f {
		x, err := strconv.ParseFloat(f[i], 64)
		if err != nil {
			return 0, 0
		}
		v[i] = x
	}
	return max(0, v[2]-v[0]), max(0, v[3]-v[1])
}

func dscTitle(b []byte) string {
	return strings.Trim(clean(dsc(b, "Title")), "() ")
}
