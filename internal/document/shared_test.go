package document

import (
	"bufio"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sharedDir finds the folder of measuring data that may lie beside the
// checkout; GLEANER_SHARED overrides. Tests without it are skipped.
func sharedDir(tb testing.TB, parts ...string) string {
	tb.Helper()
	root := os.Getenv("GLEANER_SHARED")
	dir, err := os.Getwd()
	for err == nil && root == "" {
		if s, e := os.Stat(filepath.Join(dir, "shared", "truth")); e == nil && s.IsDir() {
			root = filepath.Join(dir, "shared")
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
			continue
		}
		break
	}
	path := filepath.Join(append([]string{root}, parts...)...)
	if _, err := os.Stat(path); root == "" || err != nil {
		tb.Skipf("measuring data not found: no folder shared with %s beside the checkout (GLEANER_SHARED overrides)", filepath.Join(parts...))
	}
	return path
}

// table reads a tab-separated file with a header.
func table(tb testing.TB, path string) []map[string]string {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var rows []map[string]string
	var header []string
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		cols := strings.Split(sc.Text(), "\t")
		if header == nil {
			header = cols
			continue
		}
		row := map[string]string{}
		for i, h := range header {
			if i < len(cols) {
				row[h] = cols[i]
			}
		}
		rows = append(rows, row)
	}
	if err := sc.Err(); err != nil {
		tb.Fatal(err)
	}
	return rows
}

// localFile is where a mirror keeps what a URL names.
func localFile(dir, rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", err
	}
	p := filepath.Join(dir, u.Host, filepath.FromSlash(u.Path))
	if _, err := os.Stat(p); err == nil {
		return p, nil
	}
	return filepath.Join(dir, u.Host, filepath.FromSlash(u.EscapedPath())), nil
}
