// Package packtest packs what tests read.
package packtest

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
)

// Gzip packs texts, each as a member of its own.
func Gzip[S string | []byte](texts ...S) []byte {
	var b bytes.Buffer // its writes do not fail
	for _, text := range texts {
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(text))
		_ = z.Close()
	}
	return b.Bytes()
}

// Zip is an archive of files, the name of each before its text.
func Zip(files ...string) []byte {
	var b bytes.Buffer // its writes do not fail
	z := zip.NewWriter(&b)
	for i := 0; i+1 < len(files); i += 2 {
		if w, err := z.Create(files[i]); err == nil {
			_, _ = w.Write([]byte(files[i+1]))
		}
	}
	_ = z.Close()
	return b.Bytes()
}
