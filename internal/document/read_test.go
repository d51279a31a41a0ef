package document

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/sampleweb"
)

func read(t *testing.T, r *Reader, name string, body []byte) *Text {
	got, err := r.Read(t.Context(), Part{Name: name, Kind: Sniff(name, "", body), Body: body})
	require.NoError(t, err)
	return got
}

// eachReader tests the built-in reader, and poppler where it is installed.
func eachReader(t *testing.T, test func(reader string, o Options)) {
	t.Parallel()
	test("go", goOnly())
	test("poppler", withPoppler(t))
}

func TestReadPaper(t *testing.T) {
	eachReader(t, func(reader string, o Options) {
		o.FirstPages, o.LastPages = 3, 2
		got := read(t, NewReader(o), "p.pdf", paperPDF(t, 12))
		assert.Equal(t, OK, got.Outcome, got.Detail)
		assert.Equal(t, reader, got.Reader)
		assert.Equal(t, 12, got.PageCount)
		assert.Len(t, got.Pages, 5)
		assert.Equal(t, 3, got.Front)
		assert.Equal(t, 7, got.Skipped)
		assert.Equal(t, "Harvesting by Patience", got.Title)
		assert.Contains(t, got.Pages[0], "Harvesting the Missing Papers by Patience")
		assert.Contains(t, got.Pages[0], "The crawler")
		assert.Contains(t, got.Pages[4], "References")
		assert.Equal(t, 12, countReferences(got))
		assert.False(t, got.landscape())
		assert.InDelta(t, 612, got.Width, 1)
		assert.True(t, NewFilter(Balanced).Judge(got, Hints{Name: "p.pdf"}).Academic)
	})
}

func TestOutcomes(t *testing.T) {
	paper := paperPDF(t, 5)
	rows := map[string]struct {
		body []byte
		want Outcome
	}{
		"encrypted":  {pile.File(1, sampleweb.AsEncrypted), Encrypted},
		"truncated":  {paper[:len(paper)*2/3], Truncated},
		"blank":      {blankPDF(t), EmptyFile},
		"scan":       {pile.File(1, sampleweb.AsScan), ImageOnly},
		"garbage":    {[]byte("%PDF-1.4\n" + strings.Repeat("garbage ", 50) + "\nstartxref\n9\n%%EOF"), Unreadable},
		"empty file": {nil, EmptyFile},
		"wall":       {[]byte("<html><title>Sign in</title><body>Please log in with your institution to read this article.</body></html>"), Wall},
		"error":      {[]byte("<html><title>404 Not Found</title><body>The page was not found on this server.</body></html>"), ErrorPage},
		"other page": {[]byte("<html><title>Welcome</title><body>My cats.</body></html>"), Wall},
		"message":    {[]byte("Error: the requested file was not found on this machine."), ErrorPage},
		"latex":      {[]byte("\\documentclass{article}\\begin{document}x"), EmptyFile},
		"style":      {[]byte("\\documentclass{article}\\input{x}"), SourceOnly},
		"picture":    {[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00"), NotADocument},
	}
	eachReader(t, func(reader string, o Options) {
		for name, tc := range rows {
			got := read(t, NewReader(o), "x.pdf", tc.body)
			assert.Equal(t, tc.want, got.Outcome, "%s by %s: %s", name, reader, got.Detail)
		}
		o.MaxBytes = 100
		assert.Equal(t, TooLarge, read(t, NewReader(o), "x.pdf", paper).Outcome)
	})
}

func TestReaderSeesHiddenText(t *testing.T) {
	text := "BT /F1 12 Tf 72 700 Td (Words inside a form drawn upon the page itself) Tj ET"
	rows := map[string]struct {
		pdf  []byte
		want string
	}{
		"form in form": {pagePDF("q /X1 Do Q", "", "/XObject << /X1 6 0 R >>",
			stream("/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /XObject << /X2 7 0 R >> >>", "/X2 Do"),
			stream("/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> >>", text)),
			"Words inside a form drawn upon the page itself"},
		"spaces from kerning": {pagePDF("BT /F1 10 Tf 72 700 Td [(Spaces)-300(come)-300(from)-300(gaps)-20(only)-300(here)-300(and)-300(there)] TJ ET", "", ""),
			"Spaces come from gapsonly here and there"},
		"ligatures": {pagePDF("BT /F1 10 Tf 72 700 Td (The \\001rst e\\002ect of six good words) Tj ET", "", ""),
			"The first effect of six good words"},
		"rotated page": {pagePDF("BT /F1 10 Tf 0 1 -1 0 100 72 Tm (Turned by a quarter this line is) Tj 0 -14 Td (followed by another) Tj ET", "/Rotate 90", ""),
			"Turned by a quarter this line is\nfollowed by another"},
		"inline image": {pagePDF("BI /W 2 /H 2 /BPC 8 /CS /G ID \x00(\xff) EI BT /F1 10 Tf 72 700 Td (Text after an inline image is read) Tj ET", "", ""),
			"Text after an inline image is read"},
		"broken word": {pagePDF("BT /F1 10 Tf 14 TL 72 700 Td (Lines of six words that hyphen-) Tj T* (ate are joined again) Tj ET", "", ""),
			"Lines of six words that hyphenate are joined again"},
	}
	eachReader(t, func(reader string, o Options) {
		for name, tc := range rows {
			if reader == "go" && (name == "form in form" || name == "rotated page") {
				continue // it does not read those
			}
			got := read(t, NewReader(o), "x.pdf", tc.pdf)
			assert.Equal(t, OK, got.Outcome, "%s by %s: %s", name, reader, got.Detail)
			assert.Equal(t, tc.want, got.String(), "%s by %s", name, reader)
		}
	})
}

func TestReaderSurvivesLoops(t *testing.T) {
	t.Parallel()
	self := pagePDF("/X1 Do", "", "/XObject << /X1 6 0 R >>",
		stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X1 6 0 R >> >>", "/X1 Do /X1 Do /X1 Do"))
	tree := rawPDF("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>")
	for name, body := range map[string][]byte{"form drawing itself": self, "page tree holding itself": tree} {
		o := withPoppler(t)
		o.CPU = 2 * time.Second
		got := read(t, NewReader(o), "x.pdf", body) // and it comes back
		assert.NotEqual(t, OK, got.Outcome, name)
	}
}

// script makes an executable that stands in for pdftotext.
func script(t *testing.T, body string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	path := filepath.Join(t.TempDir(), "pdftotext")
	// Another process writes it: a file that this one has open for writing while
	// a parallel test forks cannot be executed ("text file busy").
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `cat > "$1" && chmod 755 "$1"`, "sh", path)
	cmd.Stdin = strings.NewReader("#!/bin/sh\n" + body + "\n")
	require.NoError(t, cmd.Run())
	return path
}

func TestHangingReaderIsKilled(t *testing.T) {
	t.Parallel()
	line := newLine(t)
	r := NewReader(Options{PDFToText: script(t, `sleep 600 > `+line.path+` & wait`), Timeout: 1500 * time.Millisecond})
	r.box = reaching(r.box, filepath.Dir(line.path))
	assert.Equal(t, Stalled, read(t, r, "x.pdf", paperPDF(t, 2)).Outcome)
	line.wait() // what the reader started is killed with it
}

func TestFloodingReaderIsStopped(t *testing.T) {
	t.Parallel()
	r := NewReader(Options{PDFToText: script(t, `exec yes "<page flood>"`)})
	assert.Equal(t, TooLarge, read(t, r, "x.pdf", pile.File(1, sampleweb.AsEncrypted)).Outcome)
}

func TestReadEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := NewReader(withPoppler(t)).Read(ctx, Part{Name: "x.pdf", Body: paperPDF(t, 3)})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestHTMLPaper(t *testing.T) {
	t.Parallel()
	page := "<html><head><title>A Paper in HTML</title><script>var password = 'x';</script></head><body><h1>A Paper in HTML</h1><h2>Abstract</h2><p>" +
		paragraph(1, 10) + "</p><h2>1. Introduction</h2><p>" + paragraph(2, 30) + "</p><h2>Conclusion</h2><p>" + paragraph(3, 10) + "</p><h2>References</h2><p>[1] A. B. 1999</p></body></html>"
	got := read(t, NewReader(Options{}), "paper.html", []byte(page))
	assert.Equal(t, OK, got.Outcome, got.Detail)
	assert.Equal(t, "A Paper in HTML", got.Title)
	assert.NotContains(t, got.String(), "password")
	plain := read(t, NewReader(Options{}), "index.html", []byte("<html><title>Home</title><body><h2>Publications</h2>None.</body></html>"))
	assert.Equal(t, NotADocument, plain.Outcome)
}

func TestPostScript(t *testing.T) {
	t.Parallel()
	ps := []byte("%!PS-Adobe-2.0\n%%Title: (A Title)\n%%Pages: 1\n/Times-Roman findfont 12 scalefont setfont 72 700 moveto (Words of a PostScript page are read by ghostscript) show showpage\n")
	without := read(t, NewReader(Options{Ghostscript: "-"}), "x.ps", ps)
	assert.Equal(t, NoReader, without.Outcome)
	got := read(t, withGhostscript(t, Options{}), "x.ps", ps)
	assert.Equal(t, OK, got.Outcome, got.Detail)
	assert.Contains(t, strings.Join(strings.Fields(got.String()), " "), "Words of a PostScript page")
	assert.Equal(t, "A Title", got.Title)
	assert.Equal(t, 1, got.PageCount)
	loop := read(t, NewReader(Options{CPU: time.Second}), "x.ps", []byte("%!PS\n{ } loop\n"))
	assert.Equal(t, Timeout, loop.Outcome, loop.Detail)
	hungry := read(t, NewReader(Options{Memory: 192 << 20}), "x.ps", []byte("%!PS\n[ { 60000 string } loop\n"))
	assert.Equal(t, TooLarge, hungry.Outcome, hungry.Detail)
}

// TestATitleSaysPages: a PDF has as many as are counted, whatever the lines of its title say, and no more than any other.
func TestATitleSaysPages(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]int{`A title\nPages: 9000000000\nPages: 7`: 7, `A title\nPages: 9000000000`: manyPages} {
		text := says(t, "page one two three four five six").opt.PDFToText
		r := NewReader(Options{FirstPages: 1, PDFToText: text, PDFInfo: script(t, "printf 'Title: "+said+"\\n'")})
		assert.Equal(t, want, read(t, r, "x.pdf", paperPDF(t, 2)).PageCount, said)
	}
}

// postScript is a file that says something of its pages.
func postScript(said string, pages int) string {
	ps := "%!PS-Adobe-2.0\n" + said + "/Times-Roman findfont 12 scalefont setfont\n"
	for n := range pages {
		ps += fmt.Sprintf("72 700 moveto (Page %d says enough words to be taken for a signi\\014cant text) show showpage\n", n+1)
	}
	return ps
}

// TestPostScriptSaysMorePagesThanItHas: those that it has are read, each once.
func TestPostScriptSaysMorePagesThanItHas(t *testing.T) {
	t.Parallel()
	r := withGhostscript(t, Options{})
	for _, tt := range []struct{ says, has int }{{4, 3}, {7, 3}, {90, 3}, {7, 4}, {90, 9}} {
		say := []More{ReadOn, ReadAll}
		part := Part{Name: "x.ps", Body: []byte(postScript(fmt.Sprintf("%%%%Pages: %d\n", tt.says), tt.has))}
		got, err := r.ReadUntil(t.Context(), part, func(*Text) (more More) { more, say = say[0], say[1:]; return more })
		require.NoError(t, err, tt)
		assert.Equal(t, []int{tt.has, tt.has}, []int{got.PageCount, len(got.Pages)}, tt)
		for n := range min(tt.has, len(got.Pages)) {
			assert.Contains(t, got.Pages[n], fmt.Sprintf("Page %d ", n+1), tt)
		}
	}
}

// Ends of pages are pages' own: bitmap fonts of TeX print a form feed for "fi".
func TestPostScriptPages(t *testing.T) {
	t.Parallel()
	r := withGhostscript(t, Options{FirstPages: 5, LastPages: 2})
	const pages = 9
	for _, said := range []string{"", "%%Pages: 9\n"} {
		ps := postScript(said, pages)
		all := read(t, r, "x.ps", []byte(ps))
		assert.Equal(t, OK, all.Outcome, all.Detail)
		assert.Equal(t, []int{pages, 7, 5, 2}, []int{all.PageCount, len(all.Pages), all.Front, all.Skipped}, "%q", said)
		assert.Contains(t, all.Pages[6], "Page 9")
		say := []More{ReadOn, ReadAll}
		whole, err := NewReader(Options{FirstPages: 9, LastPages: 2}).ReadUntil(t.Context(), Part{Name: "x.ps", Body: []byte(ps)},
			func(*Text) (more More) { more, say = say[0], say[1:]; return more })
		require.NoError(t, err)
		assert.Equal(t, OK, whole.Outcome, whole.Detail)
		assert.Len(t, whole.Pages, pages)
		for more, want := range map[More]int{ReadEnd: VerdictPages + endPages, ReadNoMore: VerdictPages} {
			part := Part{Name: "x.ps", Body: []byte(ps)}
			got, err := r.ReadUntil(t.Context(), part, func(*Text) More { return more })
			require.NoError(t, err)
			assert.Len(t, got.Pages, want)
			assert.True(t, got.Stopped)
			assert.Equal(t, pages, got.PageCount)
		}
	}
	assert.Equal(t, "signi\ufb01 \r significant flow \x0c\n", texLigatures("signi\ufb01 \r signi\x0ccant \x0dow \x0c\r\n"))
}
