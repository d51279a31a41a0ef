package sampleweb

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"strings"

	"github.com/go-pdf/fpdf"
)

// pdf is a document in the making, whose bytes depend on its content alone.
type pdf struct {
	*fpdf.Fpdf
	latin func(string) string // the core fonts know cp1252
}

func newPDF(orientation, title string) pdf {
	f := fpdf.New(orientation, "mm", "A4", "")
	f.SetCreationDate(modified)
	f.SetModificationDate(modified)
	f.SetCatalogSort(true)
	f.SetTitle(title, true)
	f.SetMargins(25, 25, 25)
	f.SetAutoPageBreak(true, 22)
	return pdf{f, f.UnicodeTranslatorFromDescriptor("")}
}

// text sets paragraphs in a font's style and size, in points, with lines of a height, in mm.
func (f pdf) text(font, style string, size, height float64, align string, paragraphs ...string) {
	f.SetFont(font, style, size)
	for _, p := range paragraphs {
		f.MultiCell(0, height, f.latin(p), "", align, false)
	}
}

func (f pdf) bytes() []byte {
	var b bytes.Buffer
	if err := f.Output(&b); err != nil {
		// Only a fault of this package can lead here: no input of a user does.
		panic("sampleweb: " + err.Error())
	}
	return b.Bytes()
}

// writePDF sets an article: title, authors, abstract, sections, references.
func writePDF(a article) []byte {
	f := newPDF("P", a.title)
	f.AddPage()
	f.text("Times", "B", 17, 8, "C", a.title)
	f.Ln(3)
	f.text("Times", "", 12, 6, "C", strings.Join(a.authors, ", "))
	f.text("Times", "I", 10, 5, "C", a.contact)
	f.Ln(4)
	f.text("Times", "B", 12, 6, "C", "Abstract")
	f.text("Times", "", 10, 4.6, "J", a.abstract)
	for _, s := range a.sections {
		f.Ln(3)
		f.text("Times", "B", 12, 6, "L", s.heading)
		f.text("Times", "", 10, 4.6, "J", s.text...)
	}
	f.Ln(3)
	f.text("Times", "B", 12, 6, "L", "References")
	f.text("Times", "", 9, 4.2, "L", append(a.refs, "", a.venue)...)
	return f.bytes()
}

// slidesPDF is a talk: landscape, few words a page.
func slidesPDF(title string, authors []string, r *rand.Rand) []byte {
	f := newPDF("L", title)
	f.AddPage()
	f.Ln(40)
	f.text("Helvetica", "B", 26, 14, "C", title)
	f.text("Helvetica", "", 16, 12, "C", strings.Join(authors, ", "))
	for range 5 + r.IntN(6) {
		f.AddPage()
		f.text("Helvetica", "B", 26, 14, "L", capital(pick(r, gerunds))+" "+pick(r, things))
		for range 3 + r.IntN(2) {
			f.text("Helvetica", "", 18, 12, "L", "- "+pick(r, adjectives)+" "+pick(r, things)+" for "+pick(r, domains))
		}
	}
	return f.bytes()
}

// SheetPDF is a homework sheet, a syllabus or a curriculum vitae: a heading and
// a list.
func SheetPDF(heading string, lines []string) []byte {
	f := newPDF("P", heading)
	f.AddPage()
	f.text("Times", "B", 15, 8, "L", heading)
	f.text("Times", "", 11, 6, "L", lines...)
	return f.bytes()
}

// encryptedPDF asks for a password before it shows a word.
func encryptedPDF(a article) []byte {
	f := newPDF("P", a.title)
	f.SetProtection(0, "reader", "owner")
	f.AddPage()
	f.text("Times", "", 11, 6, "J", a.abstract)
	return f.bytes()
}

// scannedPDF has a picture of a page and no text.
func scannedPDF(r *rand.Rand) []byte {
	const width, height = 310, 438
	img := image.NewGray(image.Rect(0, 0, width, height))
	for y := range height {
		inLine := y > 40 && y < height-40 && y%12 < 6
		for x := range width {
			shade := uint8(235 + r.IntN(20))
			if inLine && x > 30 && x < width-30 && r.IntN(5) < 2 {
				shade = uint8(r.IntN(90))
			}
			img.SetGray(x, y, color.Gray{Y: shade})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic("sampleweb: " + err.Error())
	}
	f := newPDF("P", "")
	f.RegisterImageOptionsReader("scan", fpdf.ImageOptions{ImageType: "PNG"}, &b)
	for range 3 {
		f.AddPage()
		f.ImageOptions("scan", 0, 0, 210, 297, false, fpdf.ImageOptions{ImageType: "PNG"}, 0, "")
	}
	return f.bytes()
}
