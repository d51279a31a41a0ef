package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/ledongthuc/pdf"
)

// childVariable in the environment makes a process a reading child.
const childVariable = "GLEANER_DOCUMENT_CHILD"

// Child tells a Reader how to start its own program as a reading child. With the
// zero value PDFs are read by poppler alone.
type Child struct {
	executable string
}

// MaybeRunChild must be the first statement of a main function (or TestMain) whose
// readers shall have the built-in PDF reader. In a reading child it reads the one
// file, prints its pages and exits; otherwise it returns the Child to put in
// Options. The value can only be had from here, so no program starts copies of
// itself that do not know what they are for.
func MaybeRunChild() Child {
	if spec := os.Getenv(childVariable); spec != "" {
		if err := childMain(spec, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	exe, err := os.Executable()
	if err != nil {
		return Child{}
	}
	return Child{executable: exe}
}

// childSpec is what a reading child is told.
type childSpec struct {
	File        string
	First, Last int // pages from either end
}

// maxStack bounds the recursion of a reading child, in bytes.
const maxStack = 64 << 20

// childMain prints what there is to say of a file, then page by page: what was
// printed before the library panics, hangs or is killed counts.
func childMain(spec string, w io.Writer) (err error) {
	debug.SetMaxStack(maxStack)
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("the library gave up: %v", x)
		}
	}()
	var s childSpec
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		return err
	}
	body, err := os.ReadFile(s.File)
	if err != nil {
		return err
	}
	out := json.NewEncoder(w)
	body = mendEnds(body)
	r, err := pdf.NewReader(bytes.NewReader(body), int64(len(body)))
	if errors.Is(err, pdf.ErrInvalidPassword) {
		return out.Encode(scan{Failed: Encrypted, Detail: "wants a password"})
	}
	if err != nil {
		return err
	}
	info, n := r.Trailer().Key("Info"), r.NumPage()
	if n < 1 || n > maxGoPages {
		return fmt.Errorf("a page count of %d", n)
	}
	if err := out.Encode(scan{PageCount: n, Title: clean(info.Key("Title").Text())}); err != nil {
		return err
	}
	for i := 1; i <= n; i++ {
		if i <= s.First || i > n-s.Last {
			if err := out.Encode(goPage(r, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxGoPages bounds what a file may claim, since the library believes it.
const maxGoPages = 20_000

// mendEnds writes a header that the library knows and cuts what follows the end
// mark: it insists on a version up to 1.7 and a line's end, and on nothing after.
func mendEnds(b []byte) []byte {
	if bytes.HasPrefix(b, []byte("%PDF-")) {
		copy(b, "%PDF-1.7\n")
	}
	if i := bytes.LastIndex(b, []byte("%%EOF")); i >= 0 {
		b = b[:i+len("%%EOF")]
	}
	return b
}

// goPage reads one page; one that breaks the library is empty.
func goPage(r *pdf.Reader, i int) (p page) {
	defer func() { _ = recover() }()
	v := r.Page(i)
	for up := v.V; !up.IsNull(); up = up.Key("Parent") {
		if b := up.Key("MediaBox"); b.Len() == 4 {
			p.Width, p.Height = b.Index(2).Float64()-b.Index(0).Float64(), b.Index(3).Float64()-b.Index(1).Float64()
			break
		}
	}
	p.Lines = goLines(v.Content().Text, p.Height)
	return p
}

// goLines joins upright letters, as they were drawn, into words and lines.
func goLines(letters []pdf.Text, height float64) []Line {
	const space = 0.16 // in letters' heights: TeX's narrowest between words is 0.2, its widest kerning 0.1
	var out []Line
	var text strings.Builder
	var l Line
	end := func() {
		if l.Text = strings.Join(strings.Fields(clean(text.String())), " "); l.Text != "" {
			if l.X1 <= l.X0 { // of a font without widths the library sets all letters on one spot
				l.X1 = l.X0 + l.Size/2*float64(len(l.Text))
			}
			out = append(out, l)
		}
		text.Reset()
	}
	for _, g := range letters {
		if g.S == "\n" || g.FontSize <= 0 { // the library ends each string so
			continue
		}
		y := height - g.Y
		size := max(g.FontSize, l.Size)
		if text.Len() == 0 || math.Abs(y-l.Y1) > size/2 || g.X < l.X1-size {
			end()
			l = Line{X0: g.X, Y0: y - g.FontSize, Y1: y, Size: g.FontSize}
		} else if g.X-l.X1 > size*space {
			text.WriteByte(' ')
		}
		text.WriteString(g.S)
		l.X1 = g.X + g.W
	}
	end()
	return out
}

// goScan reads a PDF by the built-in reader, in a child: only as many first and last
// pages as tell what it is, since the library looks a font up anew for each letter.
func (j *job) goScan(ctx context.Context) (*scan, error) {
	opt := j.r.opt
	spec, err := json.Marshal(childSpec{j.file, min(opt.FirstPages, VerdictPages), min(opt.LastPages, VerdictPages)})
	if err != nil {
		return nil, err
	}
	lim := j.r.plain()
	lim.data = true
	got, err := j.run(ctx, lim, []string{childVariable + "=" + string(spec), "GOMAXPROCS=2", "GOMEMLIMIT=" + strconv.FormatInt(opt.Memory*6/10, 10)}, opt.Child.executable)
	if err != nil {
		return nil, err
	}
	s, in := &scan{}, json.NewDecoder(bytes.NewReader(got.stdout))
	if in.Decode(s) == nil && !got.flooded {
		for p := (page{}); in.Decode(&p) == nil; p = (page{}) {
			s.Pages = append(s.Pages, p)
		}
	}
	s.Reader, s.Front = "go", min(opt.FirstPages, VerdictPages, len(s.Pages))
	if o, detail := got.overLimit("the built-in reader"); o != "" {
		s.Failed, s.Detail = o, detail
	} else if got.exit != 0 && len(s.Pages) == 0 {
		s.Failed, s.Detail = Unreadable, firstLine(got.stderr)
	}
	return s, nil
}
