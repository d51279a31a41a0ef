package document

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"
)

// Options configure a Reader. The zero value reads with what is installed.
type Options struct {
	CPU        time.Duration // processor time for one file, all readers together; 0 means 9 s
	Timeout    time.Duration // by the clock, for a machine that is busy; 0 means a minute
	Memory     int64         // bytes a child may use; 0 means 480 MiB
	MaxBytes   int           // larger files are not opened; 0 means 64 MiB
	FirstPages int           // pages read from the start; 0 means 20
	LastPages  int           // and from the end, where there are more; 0 means 4
	MinWords   int           // fewer words in all make a file "empty" or "image-only"; 0 means 6

	PDFToText   string        // path of poppler's pdftotext; "" looks it up, "-" does without
	PDFInfo     string        // path of poppler's pdfinfo, the same
	Ghostscript string        // path of ghostscript, the same
	Catdoc      string        // path of catdoc, the same
	OCR         bool          // read pictures of the first pages with tesseract, where installed; slow
	Tesseract   string        // path of tesseract, as above; it is given what poppler's pdftoppm draws
	PDFToPPM    string        // path of poppler's pdftoppm, as above
	OCRTime     time.Duration // processor time for recognition; 0 means 45 s
	OCRWait     time.Duration // by the clock; 0 means twice OCRTime
	Folder      int64         // bytes of what reading one document may keep; 0 means 256 MiB, recognition has 1 GiB
	TempDir     string        // for files handed to children; "" is the system's
	Child       Child         // as returned by MaybeRunChild: the built-in PDF reader; the zero value does without
}

// Reader reads text out of files. It is safe for concurrent use and holds
// nothing open between calls.
type Reader struct {
	opt Options
	box box
}

// NewReader looks up the programs that the options leave open.
func NewReader(opt Options) *Reader {
	opt.CPU = cmp.Or(max(opt.CPU, 0), 9*time.Second)
	opt.Timeout = cmp.Or(max(opt.Timeout, 0), time.Minute)
	opt.OCRTime = cmp.Or(max(opt.OCRTime, 0), ocrTime)
	opt.OCRWait = cmp.Or(max(opt.OCRWait, 0), 2*opt.OCRTime)
	opt.Memory = cmp.Or(max(opt.Memory, 0), 480<<20)
	opt.Folder = cmp.Or(max(opt.Folder, 0), 256<<20)
	opt.MaxBytes = cmp.Or(max(opt.MaxBytes, 0), 64<<20)
	opt.FirstPages = cmp.Or(max(opt.FirstPages, 0), 20)
	opt.LastPages = cmp.Or(max(opt.LastPages, 0), lastPages)
	opt.MinWords = cmp.Or(max(opt.MinWords, 0), 6)
	opt.PDFToText = lookUp(opt.PDFToText, "pdftotext")
	opt.PDFInfo = lookUp(opt.PDFInfo, "pdfinfo")
	opt.Ghostscript = lookUp(opt.Ghostscript, "gs")
	opt.Catdoc = lookUp(opt.Catdoc, "catdoc")
	opt.Tesseract = lookUp(opt.Tesseract, "tesseract")
	opt.PDFToPPM = lookUp(opt.PDFToPPM, "pdftoppm")
	temp := cmp.Or(opt.TempDir, os.TempDir())
	programs := []string{"/bin/sh", opt.PDFToText, opt.PDFInfo, opt.Ghostscript, opt.Catdoc, opt.PDFToPPM}
	if opt.OCR {
		programs = append(programs, opt.Tesseract)
	}
	programs = slices.DeleteFunc(programs, func(p string) bool { return p == "" })
	r := &Reader{opt: opt, box: newBox(temp, programs...)}
	if opt.Child.executable != "" {
		r.admit(newBox(temp, append(programs, opt.Child.executable)...))
	}
	return r
}

// Recognises reports whether pictures of pages are read.
func (r *Reader) Recognises() bool {
	return r.opt.OCR && r.opt.Tesseract != "" && r.opt.PDFToPPM != ""
}

// Quick is the reader without recognition.
func (r *Reader) Quick() *Reader {
	quick := *r
	quick.opt.OCR = false
	return &quick
}

// Poppler reports whether poppler's reader of PDFs is installed.
func (r *Reader) Poppler() bool { return r.opt.PDFToText != "" }

// admit takes the built-in reader's program into the box, which then may be another:
// as root no other user may reach that program. Poppler's is not opened wider for it.
func (r *Reader) admit(b box) {
	if b.user != r.box.user && r.opt.PDFToText != "" {
		r.opt.Child = Child{}
		return
	}
	r.box = b
}

func lookUp(path, name string) string {
	if path == "-" {
		return ""
	}
	if path != "" {
		return path
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return found
}

// Read reads one part. A bad file is not an error: see Text.Outcome. The error
// is the context's, or the system's (no temporary file, no process).
func (r *Reader) Read(ctx context.Context, p Part) (*Text, error) {
	return r.ReadUntil(ctx, p, nil)
}

// lastPages is how many last pages are read where Options say nothing of it.
const lastPages = 4

// VerdictPages is how many first pages are read before it is asked whether they
// are enough. By the first three, leaving one site out, as many documents are
// judged rightly as by all their pages (FrontModel).
const VerdictPages = 3

// More is how much of a PDF is read after its first pages.
type More int

// The answers to "how much more?".
const (
	ReadAll    More = iota // all that Options allow
	ReadOn                 // the last pages; of what is read then it is asked again, and ReadAll wants the others, too
	ReadEnd                // the last pages, with the references
	ReadNoMore             // nothing
)

// ReadUntil reads one part as Read does, but asks next about the first pages of
// a PDF or PostScript file how much more to read (see Filter.Enough). Where that
// is not all, Text.Stopped tells, and Text.Skipped how many pages were left out. A
// nil next wants all.
func (r *Reader) ReadUntil(ctx context.Context, p Part, next func(*Text) More) (*Text, error) {
	start := time.Now()
	t := &Text{Name: p.Name, Kind: p.Kind, Bytes: len(p.Body)}
	if t.Kind == "" {
		t.Kind = Sniff(p.Name, p.MediaType, p.Body)
		p.Kind = t.Kind
	}
	err := r.dispatch(ctx, p, t, next)
	if cerr := ctx.Err(); cerr != nil {
		return nil, cerr
	}
	if err != nil {
		return nil, err
	}
	t.Title = strings.ToValidUTF8(t.Title[:min(len(t.Title), longestTitle)], "")
	if t.Front == 0 || t.Front > len(t.Pages) {
		t.Front = len(t.Pages)
	}
	t.Elapsed = time.Since(start)
	return t, nil
}

func (r *Reader) dispatch(ctx context.Context, p Part, t *Text, next func(*Text) More) error {
	if len(p.Body) > r.opt.MaxBytes {
		t.end(TooLarge, "larger than the limit on documents")
		return nil
	}
	switch p.Kind {
	case PDF:
		return r.readPDF(ctx, p, t, next)
	case PostScript:
		return r.readPostScript(ctx, p, t, next)
	case HTML:
		readHTML(p, t)
	case PlainText:
		readPlain(p, t)
	case Word:
		return r.readWord(ctx, p, t)
	case XML:
		r.readXML(p, t)
	case LaTeX:
		r.readLaTeX(p, t)
	case BibTeX:
		t.end(SourceOnly, "the source of a list of references, not a paper")
	case DVI, DjVu, EPUB, Presentation:
		t.end(NoReader, "no reader for this kind")
	case Empty:
		t.end(EmptyFile, "no bytes, or only blanks")
	default:
		t.end(NotADocument, "a file of kind "+string(p.Kind))
	}
	return nil
}

// Pictures reports whether nothing can be read but pictures of its pages.
func (t *Text) Pictures() bool { return t.Outcome == ImageOnly || t.Outcome == Garbled }

func (t *Text) end(o Outcome, detail string) { t.Outcome, t.Detail = o, detail }

// errNoPDFReader says nothing of the file.
var errNoPDFReader = errors.New("no PDF can be read: poppler's pdftotext is not installed, and this program has no reader of its own")

// readPDF asks poppler, and the built-in reader where poppler is missing or gave up.
func (r *Reader) readPDF(ctx context.Context, p Part, t *Text, next func(*Text) More) error {
	if r.opt.PDFToText == "" && r.opt.Child.executable == "" {
		return errNoPDFReader
	}
	ctx, cancel := context.WithTimeout(ctx, r.opt.Timeout)
	defer cancel()
	j, remove, err := r.newJob(p.Body, "document.pdf", r.opt.CPU)
	if err != nil {
		return err
	}
	defer remove()
	got, err := j.pdfReaders(ctx, r.asking(p, t, next, r.settle))
	if err != nil {
		return err
	}
	t.fill(got)
	r.settle(p, t, got)
	if t.Pictures() && r.opt.OCR {
		return r.recognise(ctx, j, t)
	}
	return nil
}

// pdfReaders gives the built-in reader what poppler left of the processor time.
func (j *job) pdfReaders(ctx context.Context, next func(*scan) More) (*scan, error) {
	if j.r.opt.PDFToText == "" {
		return j.goScan(ctx)
	}
	got, err := j.poppler(ctx, next)
	if err != nil || j.r.opt.Child.executable == "" || len(got.Pages) > 0 || got.Failed != Unreadable && got.Failed != TooLarge {
		return got, err
	}
	second, err := j.goScan(ctx)
	if err != nil || second.Failed == Stalled {
		return second, err
	}
	if second.Failed != "" {
		return got, nil
	}
	return second, nil
}

// asking asks next about first pages that are a text, and wants all of others.
func (r *Reader) asking(p Part, t *Text, next func(*Text) More, settle func(Part, *Text, *scan)) func(*scan) More {
	return func(s *scan) More {
		first := *t
		first.fill(s)
		if settle(p, &first, s); next == nil || first.Outcome != OK {
			return ReadAll
		}
		return next(&first)
	}
}

// scan is what a reader of PDF or PostScript found.
type scan struct {
	Reader    string
	Pages     []page
	Front     int
	PageCount int
	Stopped   bool // by enough, after the first pages
	Title     string
	Failed    Outcome // "" when pages could be read, even if without text
	Detail    string
}

func (t *Text) fill(s *scan) {
	t.Reader, t.PageCount = s.Reader, s.PageCount
	t.Title = s.Title
	t.Front, t.Stopped = s.Front, s.Stopped
	var ws, hs []float64
	for _, p := range s.Pages {
		t.Pages = append(t.Pages, p.text())
		if p.Width > 0 {
			ws, hs = append(ws, p.Width), append(hs, p.Height)
		}
	}
	t.Width, t.Height = median(ws), median(hs)
	if len(s.Pages) > 0 {
		t.First = Layout{Width: s.Pages[0].Width, Height: s.Pages[0].Height, Lines: s.Pages[0].Lines}
	}
	t.PageCount = max(t.PageCount, len(t.Pages))
	t.Skipped = t.PageCount - len(t.Pages)
}

// settle decides the outcome from what was found and from the raw bytes.
func (r *Reader) settle(p Part, t *Text, s *scan) {
	cut := truncatedPDF(p.Body)
	switch {
	case s.Failed == Timeout && t.Words() >= r.opt.MinWords && !t.garbled():
		t.Stopped = true
		t.end(OK, s.Detail+"; judged by what was read")
	case s.Failed == Encrypted || s.Failed == Timeout || s.Failed == TooLarge || s.Failed == Stalled:
		t.end(s.Failed, s.Detail)
	case s.Failed != "" && bytes.Contains(p.Body, []byte("/Encrypt")):
		t.end(Encrypted, s.Detail)
	case s.Failed != "" && cut:
		t.end(Truncated, "the end of the file is missing")
	case s.Failed != "":
		t.end(s.Failed, s.Detail)
	case t.garbled():
		t.end(Garbled, "its letters cannot be told")
	case cut && t.Words() >= r.opt.MinWords:
		t.end(Truncated, "the end of the file is missing; text was saved")
	case t.Words() >= r.opt.MinWords:
		t.end(OK, "")
	case cut:
		t.end(Truncated, "the end of the file is missing")
	case hasImages(p.Body):
		t.end(ImageOnly, "pages of pictures, without text to speak of")
	default:
		t.end(EmptyFile, "pages with fewer words than a document has, and no pictures")
	}
}

// truncatedPDF looks for the cross-reference pointer that ends a PDF. An object
// after the last pointer means that the last part of the file was lost; junk
// after it does not matter.
func truncatedPDF(b []byte) bool {
	end := bytes.LastIndex(b, []byte("startxref"))
	return end < 0 || bytes.LastIndex(b, []byte("endobj")) > end
}

func hasImages(b []byte) bool {
	return slices.ContainsFunc([]string{"/Subtype/Image", "/Subtype /Image", "/DCTDecode", "/CCITTFaxDecode", "/JBIG2Decode", "/JPXDecode"}, func(mark string) bool {
		return bytes.Contains(b, []byte(mark))
	})
}

// promisesDocument reports whether a name or media type said PDF or PostScript.
func promisesDocument(p Part) bool {
	switch strings.ToLower(path.Ext(p.Name)) {
	case ".pdf", ".ps", ".eps", ".dvi", ".djvu", ".gz", ".z", ".zip", ".doc", ".docx":
		return true
	}
	return strings.Contains(p.MediaType, "pdf") || strings.Contains(p.MediaType, "postscript")
}
