package housetest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "gleaner"

// pkg is what `go list` says of one package.
type pkg struct {
	ImportPath string
	Dir        string
	Doc        string
	GoFiles    []string
	Imports    []string // of the program, not of its tests
}

// name is the import path below the module.
func (p pkg) name() string { return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/") }

func root(t *testing.T) string {
	dir, err := findRoot()
	require.NoError(t, err)
	return dir
}

var findRoot = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	return filepath.Dir(strings.TrimSpace(string(out))), err
})

func packages(t *testing.T) []pkg {
	all, err := listPackages()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

var listPackages = sync.OnceValues(func() ([]pkg, error) {
	return goList[pkg]("-json=ImportPath,Dir,Doc,GoFiles,Imports")
})

// goList is what `go list` says of the packages of the module.
func goList[T any](args ...string) (all []T, err error) {
	dir, err := findRoot()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", slices.Concat([]string{"list"}, args, []string{"./..."})...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	for dec := json.NewDecoder(bytes.NewReader(out)); err == nil && dec.More(); {
		var one T
		err = dec.Decode(&one)
		all = append(all, one)
	}
	return all, err
}

// plan is what docs/architecture.md lays down.
type plan struct {
	rows    map[string]int      // package of internal/ → row
	folders map[string][]string // top-level folder → what it may import
}

var (
	quoted = regexp.MustCompile("`([^`]+)`")
	rowNum = regexp.MustCompile(`^\s*\d+\s*$`)
)

func readPlan(t *testing.T) plan {
	p := plan{rows: map[string]int{}, folders: map[string][]string{}}
	for line := range strings.Lines(content(t, "docs/architecture.md")) {
		cells := strings.Split(strings.Trim(line, "| \n"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) < 2 {
			continue
		}
		switch names := quoted.FindAllStringSubmatch(cells[1], -1); {
		case rowNum.MatchString(cells[0]):
			row, err := strconv.Atoi(strings.TrimSpace(cells[0]))
			require.NoError(t, err)
			for _, n := range names {
				require.NotContains(t, p.rows, n[1], "a package stands in one row")
				p.rows[n[1]] = row
			}
		case len(cells) == 3 && strings.Contains(cells[0], "/"):
			folder := strings.Trim(strings.TrimSpace(cells[0]), "`/…")
			for _, may := range quoted.FindAllStringSubmatch(cells[2], -1) {
				p.folders[folder] = append(p.folders[folder], strings.TrimSuffix(may[1], "/*"))
			}
		}
	}
	require.Greater(t, len(p.rows), 10, "the table of rows was not understood")
	require.Contains(t, p.folders, "workflows", "the table of folders was not understood")
	return p
}

// room is the package of internal/ to which a path belongs: the first name
// below internal/, since subpackages stand in the row of their parent.
func room(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, "internal/")
	first, _, _ := strings.Cut(rest, "/")
	return first, ok
}

// TestImports holds every package to the two tables of docs/architecture.md.
func TestImports(t *testing.T) {
	t.Parallel()
	plan := readPlan(t)
	for _, p := range packages(t) {
		if r, ok := room(p.name()); ok {
			plan.checkRoom(t, p, r)
		} else {
			plan.checkFolder(t, p)
		}
	}
}

func (plan plan) checkRoom(t *testing.T, p pkg, r string) {
	t.Helper()
	row, known := plan.rows[r]
	if !known {
		t.Errorf("internal/%s stands in no row of docs/architecture.md", r)
		return
	}
	for _, imported := range p.Imports {
		if !strings.HasPrefix(imported, module+"/") {
			continue
		}
		name := strings.TrimPrefix(imported, module+"/")
		other, ok := room(name)
		switch {
		case !ok:
			t.Errorf("%s imports %s: internal packages know nothing of the rooms above", p.name(), name)
		case other != r && plan.rows[other] >= row:
			t.Errorf("%s (row %d) imports %s (row %d): imports go downwards", p.name(), row, name, plan.rows[other])
		}
	}
}

func (plan plan) checkFolder(t *testing.T, p pkg) {
	t.Helper()
	folder, _, _ := strings.Cut(p.name(), "/")
	may, known := plan.folders[folder]
	if !known {
		t.Errorf("folder %q is not in docs/architecture.md", folder)
		return
	}
	for _, imported := range p.Imports {
		name, ours := strings.CutPrefix(imported, module+"/")
		if !ours {
			continue
		}
		first, _, _ := strings.Cut(name, "/")
		allowed := first == folder
		for _, m := range may {
			// "worker/pool" allows itself, "worker" the whole folder.
			allowed = allowed || name == m || strings.HasPrefix(name, m+"/")
		}
		assert.True(t, allowed, "%v %v %v %v", p.name(), name, folder, may)
	}
}

// shunned are packages that others do without.
var shunned = []struct{ by, without *regexp.Regexp }{
	// SQL stands beside the tables, and what crawls can be run over any record.
	{regexp.MustCompile(`^internal/(crawl|lab/evaluate)(/|$)`), regexp.MustCompile(`^github.com/jackc/pgx`)},
	// What would be true without Temporal knows nothing of it.
	{regexp.MustCompile(`^internal/`), regexp.MustCompile(`^go.temporal.io/`)},
	// A deterministic workflow cannot reach outside.
	{regexp.MustCompile(`^workflows(/|$)`), regexp.MustCompile(`^(net|os|database|io/fs|math/rand|crypto/rand|log|sync|` +
		`github.com/jackc/pgx|gocloud.dev|github.com/gocolly|go.temporal.io/sdk/client|` +
		`gleaner/internal/(record|fetch|library|devstack|service))(/|$)`)},
}

func TestPackagesDoWithout(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		for _, s := range shunned {
			if r, _ := room(p.name()); r == "devstack" || !s.by.MatchString(p.name()) {
				continue
			}
			for _, imported := range p.Imports {
				assert.False(t, imported != "net/url" && s.without.MatchString(imported), "%s imports %s", p.name(),
					imported)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		assert.False(t, p.Doc == "" && len(p.GoFiles) > 0, p.ImportPath)
	}
}

// TestMeasureNeedsData: without a folder of real data there is nothing to measure.
func TestMeasureNeedsData(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("make", "measure", "GLEANER_SHARED=/nowhere", "GO=false")
	cmd.Dir = root(t)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "needs data")
}
