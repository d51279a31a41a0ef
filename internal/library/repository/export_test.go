package repository_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"encoding/base32"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/gleaner"
	"gleaner/internal/library/repository"
)

func TestCiteSeerXPath(t *testing.T) {
	t.Parallel()
	for id, want := range map[int64]string{
		0:             "000/000/000/000.000.000",
		1234567:       "001/234/567/001.234.567",
		999999999:     "999/999/999/999.999.999",
		1000000000:    "001/000/000/000/001.000.000.000",
		1234567890123: "001/234/567/890/123/001.234.567.890.123",
	} {
		assert.Equal(t, want, devtest.Must(repository.CiteSeerXPath(id))(t))
	}
	_, err := repository.CiteSeerXPath(-1)
	require.Error(t, err)
}

func TestReadableName(t *testing.T) {
	t.Parallel()
	ada, cb, mk := gleaner.Author{Name: "Ada Lovelace"}, gleaner.Author{Name: "Charles Babbage"}, gleaner.Author{Name: "Mary Kay Jr."}
	for _, tt := range []struct {
		it   repository.Item
		want string
	}{
		{repository.Item{Paper: gleaner.Paper{Venue: "conf/webdb", Year: 2003, Title: "On engines", Authors: []gleaner.Author{ada}}}, "webdb/2003/Lovelace - On engines.pdf"},
		{repository.Item{Extension: ".ps", Paper: gleaner.Paper{Venue: "journals/x", Title: `A/B: "why"?`, Authors: []gleaner.Author{ada, cb}}}, "x/undated/Lovelace and Babbage - A B why.ps"},
		{repository.Item{Paper: gleaner.Paper{Venue: "..", Year: 1, Title: "../../x", Authors: []gleaner.Author{mk, ada, cb}}}, "_/1/Kay et al. - .. .. x.pdf"},
		{repository.Item{Paper: gleaner.Paper{Venue: "conf/con", Year: 2003, Title: "Aux. files"}}, "_con/2003/_Aux. files.pdf"},
		{repository.Item{Paper: gleaner.Paper{Venue: "conf/conext", Year: 2003, Title: "Com10"}}, "conext/2003/Com10.pdf"},
		{repository.Item{SHA256: strings.Repeat("ab", 32)}, "unmatched/undated/abababababababab.pdf"},
	} {
		assert.Equal(t, tt.want, tt.it.ReadableName())
	}
	long := repository.Item{Paper: gleaner.Paper{Title: strings.Repeat("ü", 300)}}.ReadableName()
	assert.LessOrEqual(t, len(filepath.Base(long)), 160)
}

// stored puts documents into a repository and returns items for them.
func stored(t *testing.T, r *repository.Repository, bodies ...string) []repository.Item {
	var out []repository.Item
	for i, b := range bodies {
		d := devtest.Must(r.Put(t.Context(), []byte(b)))(t)
		out = append(out, repository.Item{
			ID: int64(1234567 + i), SHA256: d.SHA256, SHA1: d.SHA1,
			URL: fmt.Sprintf("http://a.example/%d.pdf", i), ParentURL: "http://a.example/?a&b",
			FetchedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			Paper:     gleaner.Paper{Key: "conf/x/a", Venue: "conf/x", Year: 2003, Title: "On <engines>", Authors: []gleaner.Author{{Name: "Ada Lovelace"}}},
		})
	}
	return out
}

func TestExportCiteSeerX(t *testing.T) {
	t.Parallel()
	r := open(t, "mem://")
	items := stored(t, r, "%PDF-a", "%PDF-b")
	items[0].References = []string{"[1] A. Writer. Looms & more. 1801."}
	items[0].Header = http.Header{"Last-Modified": {"Thu, 01 Jan 2026 00:00:00 GMT"}}
	require.NoError(t, r.PutText(t.Context(), items[0].SHA256, "the text"))
	dir := t.TempDir()
	var paths []string
	for range 2 { // the second time replaces
		paths = nil
		require.NoError(t, r.ExportCiteSeerX(t.Context(), dir, slices.Values(items), func(e repository.Exported) error {
			paths = append(paths, e.Path)
			return nil
		}))
	}
	assert.Equal(t, []string{"001/234/567/001.234.567.pdf", "001/234/568/001.234.568.pdf"}, paths)
	read := func(name string) string {
		return string(devtest.Must(os.ReadFile(filepath.Join(dir, name)))(t))
	}
	assert.Equal(t, "%PDF-a", read(paths[0]))
	assert.Equal(t, "the text", read("001/234/567/001.234.567.txt"))
	assert.NoFileExists(t, filepath.Join(dir, "001/234/568/001.234.568.txt"))
	var met struct {
		URL       string   `xml:"url"`
		ParentURL string   `xml:"parentUrl"`
		SHA1      string   `xml:"SHA1"`
		CrawlDate string   `xml:"crawlDate"`
		Modified  string   `xml:"lastModified"`
		Title     string   `xml:"title"`
		Refs      []string `xml:"references>reference"`
	}
	require.NoError(t, xml.Unmarshal([]byte(read("001/234/567/001.234.567.pdf.met")), &met))
	assert.Equal(t, "http://a.example/?a&b", met.ParentURL)
	assert.Equal(t, "On <engines>", met.Title)
	assert.Equal(t, "2026-01-02T03:04:05Z", met.CrawlDate)
	assert.Equal(t, items[0].Header.Get("Last-Modified"), met.Modified)
	assert.Equal(t, items[0].SHA1, met.SHA1)
	assert.Equal(t, items[0].References, met.Refs)
}

func TestExportTree(t *testing.T) {
	t.Parallel()
	r := open(t, "mem://")
	items := stored(t, r, "one", "another of the same name", "one", "another in other letters")
	items[3].Paper.Title = "ON <engines>" // one name to some file systems
	dir := t.TempDir()
	require.NoError(t, r.ExportTree(t.Context(), dir, slices.Values(items), nil))
	got := devtest.Must(filepath.Glob(filepath.Join(dir, "x", "2003", "*")))(t)
	require.Len(t, got, 3)
	assert.Equal(t, "Lovelace - ON engines ("+items[3].SHA256[:8]+").pdf", filepath.Base(got[0]))
	assert.Equal(t, "Lovelace - On engines ("+items[1].SHA256[:8]+").pdf", filepath.Base(got[1]))
	assert.Equal(t, "Lovelace - On engines.pdf", filepath.Base(got[2]))

	missing := repository.Item{SHA256: strings.Repeat("0", 64)}
	require.ErrorIs(t, r.ExportTree(t.Context(), dir, slices.Values([]repository.Item{missing}), nil), repository.ErrNotFound)
}

// TestExportWARC reads the file back by the rules of the standard: every record
// a gzip member, a version line, headers, exactly Content-Length bytes, CRLFCRLF.
func TestExportWARC(t *testing.T) {
	t.Parallel()
	r := open(t, "mem://")
	items := stored(t, r, "%PDF-a\r\n\r\nbinary\x00", "%!PS")
	items[0].Header = http.Header{"Content-Type": {"application/pdf"}, "Content-Encoding": {"gzip"}, "X-Bad": {"a\r\nInjected: b"}}
	items[1].Extension = "ps"
	var b, again bytes.Buffer
	for _, w := range []io.Writer{&b, &again} {
		require.NoError(t, r.ExportWARC(t.Context(), w, "out.warc.gz", slices.Values(items), nil))
	}
	in := bufio.NewReader(&b)
	var types []string
	for {
		if _, err := in.Peek(1); err == io.EOF {
			break
		}
		z := devtest.Must(gzip.NewReader(in))(t)
		z.Multistream(false)
		raw := devtest.Must(io.ReadAll(z))(t)
		rd := textproto.NewReader(bufio.NewReader(bytes.NewReader(raw)))
		assert.Equal(t, "WARC/1.1", devtest.Must(rd.ReadLine())(t))
		h := devtest.Must(rd.ReadMIMEHeader())(t)
		n := devtest.Must(strconv.Atoi(h.Get("Content-Length")))(t)
		block := make([]byte, n)
		_, err := io.ReadFull(rd.R, block)
		require.NoError(t, err)
		assert.Equal(t, "\r\n\r\n", string(devtest.Must(io.ReadAll(rd.R))(t)))
		sum := sha1.Sum(block)
		assert.Equal(t, "sha1:"+base32.StdEncoding.EncodeToString(sum[:]), h.Get("WARC-Block-Digest"))
		assert.Regexp(t, `^<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>$`, h.Get("WARC-Record-ID"))
		types = append(types, h.Get("WARC-Type"))
		switch h.Get("WARC-Type") {
		case "response":
			res := devtest.Must(http.ReadResponse(bufio.NewReader(bytes.NewReader(block)), nil))(t)
			assert.Equal(t, "%PDF-a\r\n\r\nbinary\x00", string(devtest.Must(io.ReadAll(res.Body))(t)))
			assert.Empty(t, res.Header.Get("Injected"))
			assert.Empty(t, res.Header.Get("Content-Encoding"))
			assert.Equal(t, "2026-01-02T03:04:05Z", h.Get("WARC-Date"))
		case "resource":
			assert.Equal(t, "%!PS", string(block))
			assert.Equal(t, "application/postscript", h.Get("Content-Type"))
		}
	}
	assert.Equal(t, []string{"warcinfo", "response", "resource"}, types)
}
