package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"gleaner/internal/service/terminal"
)

// printTable prints a list as JSON, or its table.
func (c *cli) printTable(v any, head string, rows func(line func(format string, args ...any)), empty ...string) error {
	return c.Print(v, func(w io.Writer) error { return table(w, head, rows, empty...) })
}

// rowsOf makes a row of each of a list, its columns parted by tabs.
func rowsOf[T any](all []T, row func(T) string) func(line func(format string, args ...any)) {
	return func(line func(string, ...any)) {
		for _, one := range all {
			line("%s", row(one))
		}
	}
}

// table prints columns below each other, under their heads; empty is printed instead where
// there is no row. On a terminal that is too narrow for a line, each row is printed as a
// line of its first column and the others below it, by their heads.
func table(w io.Writer, head string, rows func(line func(format string, args ...any)), empty ...string) error {
	lines := []string{}
	rows(func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) })
	if len(lines) == 0 && len(empty) > 0 {
		_, err := fmt.Fprintln(w, strings.Join(empty, "\n"))
		return err
	}
	var out bytes.Buffer
	t := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, line := range append([]string{strings.ToUpper(head)}, lines...) {
		fmt.Fprintln(t, line)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if o, is := w.(*terminal.Writer); is && o.Terminal() && widest(out.String()) > o.Columns() {
		out.Reset()
		writeNarrow(&out, strings.Split(strings.ToLower(head), "\t"), lines, o.Columns())
	}
	_, err := w.Write(out.Bytes())
	return err
}

// widest is the number of columns of the longest line.
func widest(s string) (n int) {
	for line := range strings.Lines(s) {
		n = max(n, terminal.Width(strings.TrimRight(line, " \n")))
	}
	return n
}

// writeNarrow prints rows one value after the other, broken between values alone.
func writeNarrow(w io.Writer, heads, lines []string, width int) {
	for _, line := range lines {
		cells := strings.Split(line, "\t")
		fmt.Fprintln(w, strings.TrimSpace(heads[0]+" "+cells[0]))
		var row strings.Builder
		for i, cell := range cells[1:] {
			if cell = strings.TrimSpace(cell); cell == "" {
				continue
			}
			cell = strings.TrimSpace(heads[min(i+1, len(heads)-1)] + " " + cell)
			if row.Len() > 0 && terminal.Width(row.String()+cell)+4 > width {
				fmt.Fprintf(w, "  %s\n", row.String())
				row.Reset()
			}
			if row.Len() > 0 {
				row.WriteString(", ")
			}
			row.WriteString(cell)
		}
		if row.Len() > 0 {
			fmt.Fprintf(w, "  %s\n", row.String())
		}
	}
}
