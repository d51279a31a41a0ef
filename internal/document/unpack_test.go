package document

import (
	"archive/tar"
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/lab/packtest"
)

func TestSniff(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file, media, body string
		want              Kind
	}{
		"pdf":                  {"x", "", "%PDF-1.5\n%âãÏÓ", PDF},
		"pdf after junk":       {"x.pdf", "", "HTTP/1.0 200 OK\r\n\r\n%PDF-1.2\n", PDF},
		"page named pdf":       {"paper.pdf", "application/pdf", "\n<!DOCTYPE html><html><title>%PDF-1.4</title>", HTML},
		"page without doctype": {"x", "", "<HTML><HEAD>", HTML},
		"postscript":           {"x.txt", "text/plain", "%!PS-Adobe-2.0\n", PostScript},
		"postscript, ctrl-D":   {"x", "", "\x04%!PS-Adobe-3.0\n", PostScript},
		"printer language":     {"x", "", "\x1b%-12345X@PJL ENTER\n%!PS-Adobe\n", PostScript},
		"dvi":                  {"x", "", "\xf7\x02\x01\x83\x92\xc0\x1c\x3b\x00\x00\x00\x00\x03\xe8\x1b", DVI},
		"djvu":                 {"x", "", "AT&TFORM\x00\x00\x00\x00DJVU", DjVu},
		"gzip":                 {"x", "", "\x1f\x8b\x08\x00", Gzip},
		"compress":             {"x", "", "\x1f\x9d\x90", Compress},
		"word":                 {"x", "", "PK\x03\x04....word/document.xml", Word},
		"slides of an office":  {"x", "", "PK\x03\x04....ppt/slides/slide1.xml", Presentation},
		"zip":                  {"x.pdf", "", "PK\x03\x04....paper.pdf", Zip},
		"old word":             {"x", "", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1......W\x00o\x00r\x00d\x00D\x00o\x00c\x00u\x00m\x00e\x00n\x00t", Word},
		"rtf":                  {"x", "", `{\rtf1\ansi hello}`, Word},
		"latex":                {"x", "", "% a comment\n\\documentclass{article}\n\\begin{document}", LaTeX},
		"bibtex":               {"refs", "", "@inproceedings{a, title = {B}}", BibTeX},
		"part of a page":       {"x", "text/html", "<p>Papers<h1>2003</h1>", HTML},
		"the same, as text":    {"x", "text/plain", "<p>Papers<h1>2003</h1>", PlainText},
		"text":                 {"README", "", "Plain words of a text.", PlainText},
		"latin text":           {"x", "", "R\xe9sum\xe9 of a paper about caf\xe9s and more words to come", PlainText},
		"png":                  {"fig.pdf", "", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00", Image},
		"nothing":              {"x.pdf", "application/pdf", "  \n", Empty},
		"web archive":          {"old.warc", "", "WARC/1.0\r\nWARC-Type: response\r\n\r\nHTTP/1.0 200 OK\r\n\r\n%PDF-1.2\n", WebArchive},
		"old web archive":      {"x.pdf", "application/pdf", "filedesc://x.arc 0.0.0.0 20050630010203 text/plain 9\n%PDF-1.2\n", WebArchive},
		"noise":                {"x.pdf", "", "\x01\x02\x03\x04\x00\xff\xfe\x10\x11\x12", Unknown},
	} {
		assert.Equal(t, tc.want, Sniff(tc.file, tc.media, []byte(tc.body)), name)
	}
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	ps := "%!PS-Adobe-2.0\n" + strings.Repeat("showpage\n", 500)
	var tarred bytes.Buffer
	tw := tar.NewWriter(&tarred)
	for _, f := range []string{"src/paper.tex", "src/fig.png", "src/._paper.tex"} {
		body := "\\documentclass{article}"
		if strings.HasSuffix(f, "png") {
			body = "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"
		}
		require.NoError(t, tw.WriteHeader(&tar.Header{Name: f, Size: int64(len(body)), Mode: 0o644, Typeflag: tar.TypeReg}))
		_, err := tw.Write([]byte(body))
		require.NoError(t, err)
	}
	require.NoError(t, tw.Close())
	for name, tc := range map[string]struct {
		file string
		body []byte
		want []string
	}{
		"plain":         {"a.ps", []byte(ps), []string{"a.ps postscript"}},
		"gzip":          {"a.ps.gz", packtest.Gzip([]byte(ps)), []string{"a.ps postscript"}},
		"gzip in gzip":  {"a.ps.gz.gz", packtest.Gzip(packtest.Gzip([]byte(ps))), []string{"a.ps postscript"}},
		"compress":      {"a.ps.Z", lzw([]byte(ps)), []string{"a.ps postscript"}},
		"zip of two":    {"a.zip", packtest.Zip("one.pdf", "%PDF-1.4\n", "two.ps", ps, "__MACOSX/x.pdf", "%PDF-1.4", "fig.gif", "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00"), []string{"a.zip/one.pdf pdf", "a.zip/two.ps postscript"}},
		"tgz of source": {"a.tgz", packtest.Gzip(tarred.Bytes()), []string{"a.tar/src/paper.tex latex"}},
		"gzip of noise": {"a.pdf.gz", packtest.Gzip([]byte{1, 2, 3, 0, 255, 254, 1, 2}), []string{"a.pdf unknown"}},
	} {
		parts, err := Unpack(t.Context(), tc.file, "", tc.body, Limits{})
		require.NoError(t, err, name)
		got := each.Of(parts, func(p Part) string { return p.Name + " " + string(p.Kind) })
		assert.Equal(t, tc.want, got, name)
	}
	// One bad member does not cost the others.
	torn := packtest.Zip("one.ps", ps, "two.pdf", "%PDF-1.4\n")
	torn[bytes.Index(torn, []byte("one.ps"))+10] ^= 0xff
	parts, err := Unpack(t.Context(), "a.zip", "", torn, Limits{})
	var bad *UnpackError
	require.ErrorAs(t, err, &bad)
	assert.Equal(t, "a.zip/one.ps", bad.Name)
	require.Len(t, parts, 1)
	assert.Equal(t, "a.zip/two.pdf", parts[0].Name)
}

func TestUnpackLimits(t *testing.T) {
	t.Parallel()
	big := packtest.Gzip(bytes.Repeat([]byte("a"), 1<<20))
	for name, tc := range map[string]struct {
		body  []byte
		lim   Limits
		want  Outcome
		limit bool
	}{
		"bomb":      {big, Limits{Member: 1 << 16}, TooLarge, true},
		"total":     {packtest.Zip("a.txt", strings.Repeat("word ", 5000), "b.txt", strings.Repeat("word ", 5000)), Limits{Total: 30000}, TooLarge, true},
		"members":   {packtest.Zip("a.txt", "one", "b.txt", "two", "c.txt", "three"), Limits{Members: 2}, TooLarge, true},
		"documents": {packtest.Zip("a.pdf", "%PDF-1.4 a", "b.html", "<p>b", "c.pdf", "%PDF-1.4 c"), Limits{Documents: 1}, TooLarge, true},
		"depth":     {packtest.Gzip(packtest.Gzip(packtest.Gzip([]byte("text")))), Limits{Depth: 2}, TooLarge, true},
		"truncated": {big[:len(big)/2], Limits{}, Truncated, false},
		"bad zip":   {[]byte("PK\x03\x04 this is no zip at all"), Limits{}, Unreadable, false},
	} {
		_, err := Unpack(t.Context(), "x", "", tc.body, tc.lim)
		var ue *UnpackError
		require.ErrorAs(t, err, &ue, name)
		assert.Equal(t, tc.want, ue.Outcome, name)
		assert.Equal(t, tc.limit, errors.Is(err, errLimit), name)
	}
}

// lzw writes what compress(1) writes: codes of growing width in groups of eight.
func lzw(in []byte) []byte {
	out := []byte{0x1f, 0x9d, 0x80 | 12}
	table := map[string]int{}
	for i := range 256 {
		table[string([]byte{byte(i)})] = i
	}
	next, width, group := 257, uint(9), []byte(nil)
	used := uint(0)
	emit := func(c int) {
		if used == 0 {
			group = make([]byte, width)
		}
		for i := range width {
			if c>>i&1 == 1 {
				group[(used+i)/8] |= 1 << ((used + i) % 8)
			}
		}
		if used += width; used == width*8 {
			out, used = append(out, group...), 0
		}
	}
	w := ""
	for _, b := range in {
		if _, ok := table[w+string([]byte{b})]; ok {
			w += string([]byte{b})
			continue
		}
		emit(table[w])
		if next < 1<<12 {
			table[w+string([]byte{b})] = next
			next++
		}
		// The reader's table is one entry behind the writer's.
		if next > 1<<width && width < 12 {
			if used > 0 {
				out, used = append(out, group...), 0
			}
			width++
		}
		w = string([]byte{b})
	}
	emit(table[w])
	if used > 0 {
		out = append(out, group[:(used+7)/8]...)
	}
	return out
}

func TestCompressLongText(t *testing.T) {
	t.Parallel()
	text := []byte(paragraph(1, 900))
	parts, err := Unpack(t.Context(), "a.txt.Z", "", lzw(text), Limits{})
	require.NoError(t, err)
	require.Len(t, parts, 1)
	assert.Equal(t, string(text), string(parts[0].Body), "widths of 9 to 12 bits, and a full table")
	_, err = Unpack(t.Context(), "a.Z", "", []byte{0x1f, 0x9d, 0xff, 1, 2, 3}, Limits{})
	assert.Error(t, err)
}
