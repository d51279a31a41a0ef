package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gleaner/internal/classify"
	"gleaner/internal/lab/evaluate"
	"gleaner/internal/web/weburl"
)

// open makes the library of the folder of data, or generates one, once.
func (m *papersMade) open(ctx context.Context) (*evaluate.Library, error) {
	if m.library != nil {
		return m.library, nil
	}
	if m.data == "" {
		lib := evaluate.GeneratedLibrary()
		m.library = &lib
		return m.library, nil
	}
	cfg, err := m.Settings()
	if err != nil {
		return nil, err
	}
	hosts, err := filepath.Glob(filepath.Join(m.data, "farm", "*.*", "index.htm*"))
	if err != nil {
		return nil, err
	}
	of := snapshotFlags{labels: filepath.Join(m.data, "truth", "labels.tsv")}
	for _, page := range hosts {
		of.records = append(of.records, filepath.Dir(page))
	}
	lib := evaluate.Library{}
	if lib.Sites, err = of.open(ctx, cfg); err != nil {
		return nil, err
	}
	held, err := m.held()
	if err == nil {
		lib.Papers, err = m.published("truth", held)
	}
	m.library = &lib
	return m.library, err
}

// held are the titles of the papers that a library has.
func (m *papersMade) held() (map[string]bool, error) {
	out := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(m.data, "truth", "holdings-*.csv"))
	for _, name := range files {
		raw, readErr := os.ReadFile(filepath.Clean(name))
		rows, csvErr := csv.NewReader(strings.NewReader(string(raw))).ReadAll()
		err = errors.Join(err, readErr, csvErr)
		for _, row := range rows {
			out[row[0]] = true
		}
	}
	return out, err
}

// published are the papers that a folder of the data lists.
func (m *papersMade) published(folder string, held map[string]bool) ([]evaluate.Published, error) {
	return given(filepath.Join(m.data, folder, "wanted.tsv"), func(r io.Reader) ([]evaluate.Published, error) {
		return evaluate.ReadPublished(r, held)
	})
}

// fields are those of papers, by what is noted of their sites; the last that fits counts.
var fields = [...]struct {
	name, theirs string
	noted        *regexp.Regexp
}{
	{"mathematics", "arXiv 84.5 %", regexp.MustCompile("math|algebra|topology|statistics")},
	{"computer science", "91.1 %", regexp.MustCompile("CS|network|software|HCI|learning|NLP|linguistics|algorithm|computational geometry")},
	{"economics", "– (PubMed 41.3 %: no site of it here)", regexp.MustCompile("econom")},
	{"physics", "mathematical physics 75.7 %", regexp.MustCompile("physics")},
}

// ofEachField is how many papers of a field are judged at most.
const ofEachField = 60

// byField are the shares of known papers that the filter accepts, as CDI's tables 6 to 8 have
// them; none where their sites are not recorded.
func (m *papersMade) byField(ctx context.Context) (rows []evaluate.Row, err error) {
	sites, err := os.ReadFile(filepath.Join(m.data, "atlas-truth", "sites.tsv"))
	if m.data == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	papers, err := m.published("atlas-truth", nil)
	if err != nil {
		return nil, err
	}
	cfg, err := m.Settings()
	if err != nil {
		return nil, err
	}
	filter, err := (&snapshotFlags{}).judge(ctx, cfg)
	if err != nil {
		return nil, err
	}
	kind := filter(func(u string) ([]byte, error) {
		return os.ReadFile(filepath.Join(m.data, "atlas", weburl.Host(u), filepath.FromSlash(pathOf(u))))
	})
	field := map[string]string{}
	for _, f := range fields {
		for line := range strings.Lines(string(sites)) {
			if cells := strings.Split(line, "\t"); len(cells) > 3 && f.noted.MatchString(cells[3]) {
				field[cells[0]] = f.name
			}
		}
	}
	for _, f := range fields {
		all, accepted := 0, 0
		for _, p := range papers {
			if len(p.URLs) == 0 || field[weburl.Host(p.URLs[0])] != f.name || all == ofEachField {
				continue
			}
			all++
			if kind(p.URLs[0]) == evaluate.Paper {
				accepted++
			}
		}
		rows = append(rows, evaluate.Row{Figure: "Tables 6-8, accepted of " + f.name, Theirs: f.theirs,
			Ours: fmt.Sprintf("%.1f %% of %d", 100*float64(accepted)/float64(max(1, all)), all)})
	}
	return rows, ctx.Err()
}

// labelledPages are the recorded pages that the checkout labels as of computer science or not,
// none where there is no checkout or no data.
func (m *papersMade) labelledPages() (out []classify.Example, err error) {
	labels, err := os.ReadFile(filepath.Join("internal", "classify", "testdata", "pages.tsv"))
	if m.data == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, folder := range []string{"farm", "atlas"} {
		pages, err := topicTraining{dir: filepath.Join(m.data, folder)}.read(strings.NewReader(labelsOf(string(labels), folder)))
		if err != nil {
			return nil, err
		}
		for _, p := range pages {
			out = append(out, p.Example())
		}
	}
	return out, nil
}

// labelsOf are the labels of the pages in a folder, as topicTraining reads them.
func labelsOf(labels, folder string) string {
	var out strings.Builder
	for line := range strings.Lines(labels) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		label := map[string]string{"cs": "topic", "other": "other"}[cells[min(1, len(cells)-1)]]
		if address, ok := strings.CutPrefix(cells[0], folder+"/"); ok && label != "" {
			fmt.Fprintf(&out, "http://%s\t%s\n", address, label)
		}
	}
	return out.String()
}
