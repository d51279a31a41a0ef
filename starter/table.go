package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"gleaner/internal/service/program"
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
// line of its first column and the others below it, by their heads. Without heads they stay columns.
func table(w io.Writer, head string, rows func(line func(format string, args ...any)), empty ...string) error {
	lines := []string{}
	rows(func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) })
	if len(lines) == 0 && len(empty) > 0 {
		_, err := fmt.Fprintln(w, strings.Join(empty, "\n"))
		return err
	}
	var out bytes.Buffer
	t := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	if head != "" {
		fmt.Fprintln(t, strings.ToUpper(head))
	}
	for _, line := range lines {
		fmt.Fprintln(t, line)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if o, is := w.(*terminal.Writer); is && head != "" && o.Terminal() && widest(out.String()) > o.Columns() {
		out.Reset()
		writeNarrow(&out, strings.Split(strings.ToLower(head), "\t"), lines, o.Columns())
	}
	_, err := w.Write(out.Bytes())
	return err
}

// firstPage reads one row more than limit, and returns the first rows, and the place behind which there are more; "" where
// there are not.
func firstPage[T any](limit int, read func(limit int) ([]T, error), place func(T) string) (rows []T, next string, err error) {
	if limit < 1 {
		return nil, "", fmt.Errorf("%w: --limit: want one or more, not %d", program.ErrUsage, limit)
	}
	if rows, err = read(limit + 1); len(rows) > limit {
		rows, next = rows[:limit], place(rows[limit-1])
	}
	return append([]T{}, rows...), next, err // a list in JSON, too, where it is empty
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

// byteSize is a number of bytes for a person.
func byteSize(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	f, u := float64(n), 0
	for f >= 1000 && u < len(units)-1 {
		f, u = f/1000, u+1
	}
	if u == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[u])
}

func rounded(d time.Duration) time.Duration {
	if d < time.Minute {
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// would begins what a dry run says of what it would save.
var would = map[bool]string{true: "would be "}

// linesAtOnce is how many rows of a long list are read at a time.
const linesAtOnce = 1000
