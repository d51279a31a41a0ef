package program

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// WriteFile makes a file that others see whole or not at all, where a link leads if it is
// one. What is there and is no file, as a device or a pipe, is written to.
func WriteFile(name string, write func(io.Writer) error) error {
	mode := os.FileMode(0o644)
	if is, err := os.Stat(name); err == nil {
		if !is.Mode().IsRegular() {
			f, err := os.OpenFile(name, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			return filled(f, write)
		}
		mode = is.Mode().Perm()
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".partial-*")
	if at, ok := errors.AsType[*os.PathError](err); ok {
		at.Path = name // the one that was given
	}
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already where it was renamed
	if err := tmp.Chmod(mode); err != nil {
		tmp.Close()
		return err
	}
	if err := filled(tmp, write); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}

// filled writes to a file and closes it.
func filled(f *os.File, write func(io.Writer) error) error {
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// WriteCSV writes the heads of columns, and the rows that next returns until it returns none.
func WriteCSV(w io.Writer, heads []string, next func() ([][]string, error)) error {
	out := csv.NewWriter(w)
	for rows := [][]string{heads}; ; {
		if err := out.WriteAll(rows); err != nil {
			return err
		}
		var err error
		if rows, err = next(); err != nil || len(rows) == 0 {
			return err
		}
	}
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
