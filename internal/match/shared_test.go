package match_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/realdata"
)

type wantedRow struct {
	paper  gleaner.Paper
	urls   []string
	sha256 []string
}

// wantedPapers are the papers of the venues of a recording, by the folder of what is
// true of it, and where each lies.
func wantedPapers(t testing.TB, truth string) []wantedRow {
	t.Helper()
	var out []wantedRow
	for _, row := range realdata.Table(t, truth, "wanted.tsv") {
		year, _ := strconv.Atoi(row["year"])
		p := gleaner.Paper{Key: row["key"], Venue: row["venue"], Year: year, Title: row["title"], Authors: by(strings.FieldsFunc(row["authors"], func(r rune) bool { return r == ';' })...)}
		out = append(out, wantedRow{paper: p, urls: realdata.List(row["urls"]), sha256: realdata.List(row["sha256"])})
	}
	return out
}

// sample is one document of the recorded sites.
type sample struct {
	url, sha256, text, title string
}

// texts of each recording are read once for all tests of a run.
var texts sync.Map

// recordedTexts reads the text of all PDFs of a recording.
func recordedTexts(t testing.TB, sites string) []sample {
	root := realdata.Path(t, sites)
	if _, err := exec.LookPath("pdftotext"); err != nil {
		realdata.Skip(t, "pdftotext (poppler-utils) is not installed")
	}
	read, _ := texts.LoadOrStore(sites, sync.OnceValues(func() ([]sample, error) { return readTexts(root) }))
	samples, err := read.(func() ([]sample, error))()
	require.NoError(t, err)
	return samples
}

func readTexts(root string) ([]sample, error) {
	var paths []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.EqualFold(filepath.Ext(path), ".pdf") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]sample, len(paths))
	var readers errgroup.Group
	readers.SetLimit(runtime.GOMAXPROCS(0))
	for i, path := range paths {
		readers.Go(func() error {
			rel, _ := filepath.Rel(root, path)
			s, err := readText("http://"+filepath.ToSlash(rel), path)
			out[i] = s
			return err
		})
	}
	return out, readers.Wait()
}

func readText(url, path string) (sample, error) {
	body, err := os.ReadFile(path)
	sum := sha256.Sum256(body)
	s := sample{url: url, sha256: hex.EncodeToString(sum[:])}
	text, _ := exec.Command("pdftotext", "-l", "2", path, "-").Output() // broken files have none
	s.text = string(text)
	if !bytes.Contains(body, []byte("/Title")) && !bytes.Contains(body, []byte("/ObjStm")) {
		return s, err // it names no title of its own
	}
	info, _ := exec.Command("pdfinfo", path).Output()
	for line := range strings.Lines(string(info)) {
		if v, ok := strings.CutPrefix(line, "Title:"); ok {
			s.title = strings.TrimSpace(v)
			break
		}
	}
	return s, err
}

// by are authors of these names.
func by(names ...string) []gleaner.Author {
	return each.Of(names, func(name string) gleaner.Author { return gleaner.Author{Name: strings.TrimSpace(name)} })
}

func papersOf(rows []wantedRow) []gleaner.Paper {
	return each.Of(rows, func(r wantedRow) gleaner.Paper { return r.paper })
}
