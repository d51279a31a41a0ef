package ingest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/document/documenttest"
	"gleaner/internal/fetch"
	"gleaner/internal/lab/packtest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/collection"
)

// archived is a zip archive of members, each a name and its text.
func archived(members ...string) string { return string(packtest.Zip(members...)) }

// TestFilterSwitch checks that an import without the content filter takes what the filter
// rejected before, and that one with it examines what came in unread.
func TestFilterSwitch(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sheet := string(s.pile.File(3, sampleweb.AsSheet))
	other := string(s.pile.File(4, sampleweb.AsSheet))
	first := s.write("first.warc.gz", slices.Concat(answer("http://a.example/hw3.pdf", "", sheet), answer("http://a.example/1.pdf", "", s.pdf(1))))
	again := s.write("again.warc.gz", answer("http://b.example/hw4.pdf", "", other))
	for _, step := range []struct {
		path, url, want, state string
		off                    bool
	}{
		{first, "http://a.example/hw3.pdf", FilteredDCF, "rejected", false},
		{first, "http://a.example/hw3.pdf", SavedNew, "accepted", true},
		{first, "http://a.example/hw3.pdf", FilteredDCF, "rejected", false},
		{again, "http://b.example/hw4.pdf", SavedNew, "accepted", true},
		{again, "http://b.example/hw4.pdf", FilteredDCF, "rejected", false},
	} {
		c, by := s.imported(Options{Paths: []string{step.path}, Unfiltered: step.off})
		require.Equal(t, step.want, by[step.url].Outcome, "%+v: %+v", step, by[step.url])
		require.Zero(t, c.Differences)
		d, _, err := s.DB.Document(t.Context(), by[step.url].SHA256)
		require.NoError(t, err)
		require.EqualValues(t, step.state, d.State)
		require.Equal(t, step.path == first && step.off, by[step.url].Detail == "unread, rejected before", by[step.url].Detail)
	}
}

// TestArchivesWithoutPapers checks that archives of code, notes and pages alone count as
// failed_PDFFilenotFound, with the content filter or without.
func TestArchivesWithoutPapers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	code := "int main(void) { return 0; }\n"
	path := s.write("x.warc.gz", slices.Concat(answer("http://a.example/code.zip", "", archived("code.c", code)),
		answer("http://a.example/two.zip", "", archived("README.txt", "Build it with make. See the manual.", "main.c", code)),
		answer("http://a.example/site.zip", "", archived("LICENSE.txt", "All rights.", "index.html", "<html><body>My code</body></html>")),
		answer("http://a.example/paper.zip", "", archived("README.txt", "My paper", "paper.pdf", s.pdf(1)))))
	for _, off := range []bool{true, false} {
		c, by := s.imported(Options{Paths: []string{path}, Unfiltered: off})
		require.EqualValues(t, 3, c.FailedPDFNotFound, "%v", by)
		require.EqualValues(t, 1, c.SavedNew+c.SavedDuplicate)
	}
}

// TestPackedOneByOne: not all packed files of a step are unpacked at a time.
func TestPackedOneByOne(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Coll = collection.New(collection.Parts{DB: s.DB, Repo: s.Repo, Reader: documenttest.Shared(), Memory: fetch.NewMemory(20 << 20)})
	var all []byte
	for i := range 3 {
		all = append(all, answer(fmt.Sprintf("http://a.example/%d.zip", i), "", archived("paper.pdf", s.pdf(i)))...)
	}
	c, _ := s.imported(Options{Paths: []string{s.write("x.warc.gz", all)}, Unfiltered: true})
	require.Equal(t, 3, c.SavedNew)
}
