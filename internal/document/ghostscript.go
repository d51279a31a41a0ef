package document

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// readPostScript reads part by part (see ReadUntil). Where the file does not say
// how many pages it has, all are interpreted to count them.
func (r *Reader) readPostScript(ctx context.Context, p Part, t *Text, next func(*Text) More) error {
	if r.opt.Ghostscript == "" {
		t.end(NoReader, "PostScript needs ghostscript, which is not installed")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.opt.Timeout)
	defer cancel()
	j, remove, err := r.newJob(p.Body, "document.ps", r.opt.CPU)
	if err != nil {
		return err
	}
	defer remove()
	got, err := r.inParts(pager{
		says: dscPages(p.Body),
		first: func(to int) (*scan, error) {
			s := &scan{Reader: "ghostscript"}
			return s, j.ghostscript(ctx, s, 1, to)
		},
		more: func(s *scan, from, to int) error { return j.ghostscript(ctx, s, from, to) },
		count: func(s *scan) (int, error) {
			rest := &scan{}
			err := j.ghostscript(ctx, rest, s.Front+1, manyPages)
			return s.Front + len(rest.Pages), err
		},
	}, r.asking(p, t, next, r.settlePostScript))
	if err != nil {
		return err
	}
	t.fill(got)
	r.settlePostScript(p, t, got)
	return nil
}

// manyPages is more than documents have; no more are counted.
const manyPages = 5000

// pageLimit bounds the file of a page, in bytes: no page has as much text.
const pageLimit = 1 << 20

// ghostscript adds the text of some pages. Ghostscript runs its text device in its safe
// mode: it is a whole language's interpreter, so the file is given to it as
// hostile, with no file access (-dSAFER), no prompt, bounded time and memory. Safe
// programs may still write, list and remove files in the folder for temporary ones,
// which therefore is none. The
// device marks no ends of pages, and bitmap fonts print a form feed for "fi", so
// each page is written to a file of its own.
func (j *job) ghostscript(ctx context.Context, s *scan, from, to int) error {
	out, err := j.folder()
	if err != nil {
		return err
	}
	got, err := j.run(ctx, limits{memory: j.r.opt.Memory, file: pageLimit, folder: j.r.opt.Folder},
		[]string{"TMPDIR=/dev/null", "TEMP=/dev/null"},
		j.r.opt.Ghostscript, "-q", "-dSAFER", "-dNOPAUSE", "-dBATCH", "-dNOPROMPT",
		"-dFirstPage="+strconv.Itoa(from), "-dLastPage="+strconv.Itoa(to),
		"-sDEVICE=txtwrite", "-dTextFormat=3", "-sOutputFile="+filepath.Join(j.dir, out, "%d"), "-f", j.file)
	if err != nil {
		return err
	}
	n := 1
	for room := maxOutput; n <= to-from+1; n++ {
		text, err := j.written(filepath.Join(out, strconv.Itoa(n)))
		if errors.Is(err, fs.ErrNotExist) { // that was the last
			break
		}
		if err != nil {
			s.Failed, s.Detail = Unreadable, "ghostscript wrote no text: "+err.Error()
			return nil
		}
		if room -= len(text); room < 0 {
			got.flooded = true
			break
		}
		s.Pages = append(s.Pages, page{Plain: strings.TrimSpace(clean(texLigatures(string(text))))})
	}
	s.Failed, s.Detail = ghostscriptOutcome(got)
	if s.Failed == "" && n <= to-from+1 { // the file may say more
		s.PageCount = from + n - 2
	}
	return nil
}

func ghostscriptOutcome(got *run) (Outcome, string) {
	got.stderr += string(got.stdout) // where it complains, too
	o, detail := got.overLimit("ghostscript")
	if o == "" && got.exit != 0 {
		return Unreadable, firstLine(got.stderr)
	}
	return o, detail
}

func (r *Reader) settlePostScript(p Part, t *Text, s *scan) {
	t.Width, t.Height = dscBox(p.Body)
	t.Title = strings.Trim(clean(dsc(p.Body, "Title")), "() ")
	t.First = plainLayout(t.Pages, t.Width, t.Height)
	enough := t.Words() >= r.opt.MinWords
	switch {
	case s.Failed == Stalled:
		t.end(Stalled, s.Detail)
	case enough && s.Failed == Timeout:
		t.Stopped = true
		t.end(OK, s.Detail+"; judged by what was read")
	case enough && s.Failed != "":
		t.end(Truncated, "ghostscript stopped before the end; text was saved")
	case enough:
		t.end(OK, "")
	case s.Failed != "":
		t.end(s.Failed, s.Detail)
	case strings.Contains(string(head(p.Body, 1<<20)), "image"):
		t.end(ImageOnly, "pages of pictures or of bitmap letters, without text")
	default:
		t.end(EmptyFile, "pages without text")
	}
}

// texLigature are the ligatures of TeX's fonts from code 11 on.
var texLigature = [...]string{"ff", "fi", "fl", "ffi", "ffl"}

// texLigatures spells them out. What fonts of other makers mean by these codes is
// unknown, so they count only beside letters.
func texLigatures(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	letter := func(i int) bool {
		return i >= 0 && i < len(s) && (s[i]|0x20) >= 'a' && (s[i]|0x20) <= 'z'
	}
	var b strings.Builder
	done := 0
	for i := range len(s) {
		if n := int(s[i]) - '\v'; n >= 0 && n < len(texLigature) && (letter(i-1) || letter(i+1)) {
			b.WriteString(s[done:i] + texLigature[n])
			done = i + 1
		}
	}
	b.WriteString(s[done:])
	return b.String()
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
	var n int
	if _, err := fmt.Sscan(dsc(b, "Pages"), &n); err != nil || n < 0 || n > manyPages {
		return 0
	}
	return n
}

func dscBox(b []byte) (w, h float64) {
	var left, low, right, high float64
	if n, _ := fmt.Sscan(dsc(b, "BoundingBox"), &left, &low, &right, &high); n < 4 {
		return 0, 0
	}
	return max(0, right-left), max(0, high-low)
}
