package program

import (
	"encoding/json"
	"io"
	"os"
)

// WriteFile makes a file of what write writes.
func WriteFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func encode(w io.Writer, v any) error {
	if long, is := v.(interface{ WriteJSON(io.Writer) error }); is { // piece by piece
		return long.WriteJSON(w)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// WriteJSON makes a file of a value.
func WriteJSON(name string, v any) error {
	return WriteFile(name, func(w io.Writer) error { return encode(w, v) })
}
