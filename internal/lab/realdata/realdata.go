package realdata

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Variable names the folder of real data; "none" leaves every measurement on it out.
const Variable = "GLEANER_SHARED"

// Attribute is what a test has that asked for real data (testing.TB.Attr).
const Attribute = "realdata"

var asked sync.Map // names of tests

// Path returns the absolute path of what lies under these parts in the folder of
// real data, such as Path(t, "truth", "labels.tsv"). Where it is missing it calls Skip.
func Path(tb testing.TB, parts ...string) string {
	tb.Helper()
	if _, again := asked.LoadOrStore(tb.Name(), true); !again {
		tb.Attr(Attribute, "true")
	}
	what, all := filepath.Join(parts...), roots(tb)
	for _, root := range all {
		path := filepath.Join(root, what)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	Skip(tb, fmt.Sprintf("needs data: no %q in %s (%s names another folder)", what, strings.Join(all, ", "), Variable))
	return ""
}

// Skip leaves a measurement out for a reason. One that was asked for, by the flag -run or
// by a folder that Variable names, fails.
func Skip(tb testing.TB, reason string) {
	tb.Helper()
	named := os.Getenv(Variable)
	if named != "none" && (named != "" || flag.Lookup("test.run").Value.String() != "") {
		tb.Fatal(reason)
	}
	tb.Skip(reason)
}

// roots are the folders that may hold the data: the named one alone, or a
// folder shared beside any folder above the test.
func roots(tb testing.TB) []string {
	tb.Helper()
	dir, err := os.Getwd()
	require.NoError(tb, err)
	if named := os.Getenv(Variable); named != "" {
		if !filepath.IsAbs(named) {
			named = filepath.Join(dir, named)
		}
		return []string{named}
	}
	var out []string
	for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
		out = append(out, filepath.Join(up, "shared"))
	}
	return out
}

// Table reads a tab-separated file whose first line names its columns; a quote
// is a letter like any other. A row has only the columns that it fills.
func Table(tb testing.TB, parts ...string) []map[string]string {
	tb.Helper()
	text, err := os.ReadFile(Path(tb, parts...))
	require.NoError(tb, err)
	var head []string
	var rows []map[string]string
	for line := range strings.Lines(string(text)) {
		cols := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if head == nil {
			head = cols
			continue
		}
		row := make(map[string]string, len(head))
		for i, v := range cols[:min(len(cols), len(head))] {
			row[head[i]] = v
		}
		rows = append(rows, row)
	}
	return rows
}

// List splits what one field holds of several values.
func List(field string) []string {
	return strings.FieldsFunc(field, func(r rune) bool { return strings.ContainsRune(" ;|", r) })
}
