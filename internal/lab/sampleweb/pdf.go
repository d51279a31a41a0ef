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

// newPDF starts a document whose bytes depend on its content alone.
func newPDF(orientation, title string) *fpdf.Fpdf {
	f := fpdf.New(orientation, "mm", "A4", "")
	f.SetCreationDate(modified)
	f.SetModificationDate(modified)
	f.SetCatalogSort(true)
	f.SetTitle(title, true)
	f.SetMargins(25, 25, 25)
	f.SetAutoPageBreak(true, 22)
	return f
}

func finish(f *fpdf.Fpdf) []byte {
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
	latin := f.UnicodeTranslatorFromDescriptor("") // the core fonts know cp1252
	f.AddPage()
	f.SetFont("Times", "B", 17)
	f.MultiCell(0, 8, latin(a.title), "", "C", false)
	f.Ln(3)
	f.SetFont("Times", "", 12)
	f.MultiCell(0, 6, latin(strings.Join(a.authors, ", ")), "", "C", false)
	f.SetFont("Times", "I", 10)
	f.MultiCell(0, 5, latin(a.contact), "", "C", false)
	f.Ln(4)
	f.SetFont("Times", "B", 12)
	f.MultiCell(0, 6, "Abstract", "", "C", false)
	f.SetFont("Times", "", 10)
	f.MultiCell(0, 4.6, latin(a.abstract), "", "J", false)
	for _, s := range a.sections {
		f.Ln(3)
		f.SetFont("Times", "B", 12)
		f.MultiCell(0, 6, latin(s.heading), "", "L", false)
		f.SetFont("Times", "", 10)
		for _, p := range s.text {
			f.MultiCell(0, 4.6, latin(p), "", "J", false)
			f.Ln(1.5)
		}
	}
	f.Ln(3)
	f.SetFont("Times", "B", 12)
	f.MultiCell(0, 6, "References", "", "L", false)
	f.SetFont("Times", "", 9)
	for _, ref := range a.refs {
		f.MultiCell(0, 4.2, latin(ref), "", "L", false)
	}
	f.Ln(4)
	f.MultiCell(0, 4.2, latin(a.venue), "", "L", false)
	return finish(f)
}

// slidesPDF is a talk: landscape, few words a page.
func slidesPDF(title string, authors []string, r *rand.Rand) []byte {
	f := newPDF("L", title)
	latin := f.UnicodeTranslatorFromDescriptor("")
	for i := range 6 + r.IntN(6) {
		f.AddPage()
		f.SetFont("Helvetica", "B", 26)
		if i == 0 {
			f.Ln(40)
			f.MultiCell(0, 14, latin(title), "", "C", false)
			f.SetFont("Helvetica", "", 16)
			f.MultiCell(0, 12, latin(strings.Join(authors, ", ")), "", "C", false)
			continue
		}
		f.MultiCell(0, 14, capital(pick(r, gerunds))+" "+pick(r, things), "", "L", false)
		f.SetFont("Helvetica", "", 18)
		for range 3 + r.IntN(2) {
			f.MultiCell(0, 12, "- "+pick(r, adjectives)+" "+pick(r, things)+" for "+pick(r, domains), "", "L", false)
		}
	}
	return finish(f)
}

// sheetPDF is a homework sheet, a syllabus or a curriculum vitae: a heading and
// a list.
func sheetPDF(heading string, lines []string) []byte {
	f := newPDF("P", heading)
	latin := f.UnicodeTranslatorFromDescriptor("")
	f.AddPage()
	f.SetFont("Times", "B", 15)
	f.MultiCell(0, 8, latin(heading), "", "L", false)
	f.SetFont("Times", "", 11)
	for _, line := range lines {
		f.MultiCell(0, 6, latin(line), "", "L", false)
	}
	return finish(f)
}

// encryptedPDF asks for a password before it shows a word.
func encryptedPDF(a article) []byte {
	f := newPDF("P", a.title)
	f.SetProtection(0, "reader", "owner")
	f.AddPage()
	f.SetFont("Times", "", 11)
	f.MultiCell(0, 6, f.UnicodeTranslatorFromDescriptor("")(a.abstract), "", "J", false)
	return finish(f)
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
	return finish(f)
}
