package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes the report as indented JSON, a list's element after the other: its
// lists have a line for each paper, and as one text they would be held several times
// over. The bytes are those of an encoder with an indent of two blanks.
func (r *Report) WriteJSON(w io.Writer) error {
	numbers := *r
	numbers.Found, numbers.Missing, numbers.Sites = nil, nil, nil
	rest, err := json.MarshalIndent(numbers, "", "  ")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for _, list := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"found", func(w io.Writer) error { return writeList(w, r.Found) }},
		{"missing", func(w io.Writer) error { return writeList(w, r.Missing) }},
		{"sites", func(w io.Writer) error { return writeList(w, r.Sites) }},
	} {
		// A line break is never within a text, and what is nested stands further right.
		name := fmt.Appendf(nil, "\n  %q: ", list.name)
		before, after, is := bytes.Cut(rest, append(name, "null"...))
		if !is {
			return fmt.Errorf("report: no place for %s", list.name)
		}
		if _, err := out.Write(append(before, name...)); err != nil {
			return err
		}
		if err := list.write(out); err != nil {
			return err
		}
		rest = after
	}
	if _, err := out.Write(append(rest, '\n')); err != nil {
		return err
	}
	return out.Flush()
}

// writeList writes a list that stands one step in.
func writeList[T any](w io.Writer, all []T) error {
	begin, end := "[\n    ", "\n  ]"
	switch {
	case all == nil:
		begin, end = "null", ""
	case len(all) == 0:
		begin, end = "[", "]"
	}
	if _, err := io.WriteString(w, begin); err != nil {
		return err
	}
	for i, one := range all {
		text, err := json.MarshalIndent(one, "    ", "  ")
		if err != nil {
			return err
		}
		if i > 0 {
			text = append([]byte(",\n    "), text...)
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, end)
	return err
}
