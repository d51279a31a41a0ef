package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/service/program"
	"gleaner/internal/service/terminal"
)

// printTable prints a list as JSON, or its table.
func (c *cli) printTable(v any, head string, lines []string, empty ...string) error {
	return c.Print(v, func(w io.Writer) error { return table(w, head, lines, empty...) })
}

// done says what was done, unless that failed, as JSON or as a sentence.
func done(c *cli, err error, v any, format string, args ...any) error {
	if err != nil {
		return err
	}
	return c.Say(v, format, args...)
}

// printOne prints a value, unless it could not be read, as JSON or as write writes it.
func printOne[T any](c *cli, v T, err error, write func(io.Writer, T) error) error {
	if err != nil {
		return err
	}
	return c.Print(v, func(w io.Writer) error { return write(w, v) })
}

// printRows prints a list, unless it could not be read, as JSON or as a table with a row of each.
func printRows[T any](c *cli, all []T, err error, head string, row func(T) string, empty ...string) error {
	if err != nil {
		return err
	}
	return c.printTable(each.List(all), head, each.Of(all, row), empty...)
}

// lines are those of a table.
type lines []string

func (l *lines) add(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

// fact adds what is known of something, unless that is nothing.
func (l *lines) fact(name string, known any) {
	if s := fmt.Sprint(known); s != "" {
		l.add("%s\t%s", name, s)
	}
}

// table prints lines, their columns parted by tabs, below each other, under their heads; empty is printed instead where
// there is no line. On a terminal that is too narrow for a line, each is printed as a
// line of its first column and the others below it, by their heads. Without heads they stay columns.
func table(w io.Writer, head string, lines []string, empty ...string) error {
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
	rows, err = read(limit + 1)
	rows, next = each.Page(rows, limit, place)
	return rows, next, err
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
