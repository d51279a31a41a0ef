package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes the report as JSON with an indent of two spaces. It encodes one list element
// at a time, since the lists have an element per paper and would be in memory several times.
func (r *Report) WriteJSON(w io.Writer) error {
	numbers := *r
	numbers.Found, numbers.Missing, numbers.Sites = nil, nil, nil
	rest, err := json.MarshalIndent(numbers, "", "  ")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if err := cmp.Or(writeList(out, &rest, "found", r.Found), writeList(out, &rest, "missing", r.Missing), writeList(out, &rest, "sites", r.Sites)); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n", rest)
	return out.Flush()
}

// writeList writes the text before a list and the list, and leaves the text after it in rest.
func writeList[T any](w *bufio.Writer, rest *[]byte, name string, all []T) error {
	// JSON strings hold no line breaks, and nested fields have a greater indent.
	place := fmt.Sprintf("\n  %q: ", name)
	before, after, is := bytes.Cut(*rest, []byte(place+"null"))
	if !is {
		return fmt.Errorf("report: no place for %s", name)
	}
	*rest = after
	fmt.Fprintf(w, "%s%s", before, place)
	if len(all) == 0 {
		raw, err := json.Marshal(all) // null or []
		if err == nil {
			_, err = w.Write(raw)
		}
		return err
	}
	between := "["
	for _, one := range all {
		text, err := json.MarshalIndent(one, "    ", "  ")
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s\n    %s", between, text); err != nil {
			return err
		}
		between = ","
	}
	_, err := w.WriteString("\n  ]")
	return err
}
