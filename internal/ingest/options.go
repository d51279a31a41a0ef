package ingest

import (
	"fmt"
	"slices"
	"strings"

	"gleaner/internal/document"
)

// Formats are the words for what an import reads; Auto tells by content.
const (
	Auto = "auto"
	WARC = "warc"
	ARC  = "arc"
)

// Options are what a person asks of an import.
type Options struct {
	Paths  []string `json:"paths"`            // files or folders, as the worker sees them
	Format string   `json:"format,omitempty"` // "" is Auto
	// Unfiltered switches the document content filter off, Unrecorded the record:
	// then files are judged and, with To, copied, and the collection stays as it is.
	Unfiltered bool     `json:"unfiltered,omitempty"`
	Unrecorded bool     `json:"unrecorded,omitempty"`
	Types      []string `json:"types,omitempty"`     // kinds of file that are taken; none are all that a crawl takes
	To         string   `json:"to,omitempty"`        // a folder or bucket of their own for the documents that are saved
	Blacklist  []string `json:"blacklist,omitempty"` // hosts whose resources are passed over
}

// Check reports what is wrong with the options.
func (o Options) Check() error {
	switch {
	case len(o.Paths) == 0:
		return fmt.Errorf("%w: nothing is named to be imported", ErrInput)
	case !slices.Contains([]string{"", Auto, WARC, ARC}, o.Format):
		return fmt.Errorf("%w: --format is auto, warc or arc, not %q", ErrInput, o.Format)
	}
	for _, t := range o.Types {
		if k := document.Kind(t); !k.IsDocument() && !k.IsPacked() {
			return fmt.Errorf("%w: --types: no document comes in a file of kind %q; kinds are %s", ErrInput, t, strings.Join(kinds(), ", "))
		}
	}
	return nil
}

// kinds are the kinds of file in which documents come.
func kinds() (all []string) {
	for _, k := range []document.Kind{document.PDF, document.PostScript, document.DVI, document.DjVu, document.Word, document.LaTeX, document.Presentation, document.EPUB,
		document.HTML, document.XML, document.PlainText, document.Gzip, document.Compress, document.Bzip2, document.Zip, document.Tar} {
		all = append(all, string(k))
	}
	return all
}

// takes reports whether files of a kind are taken.
func (o Options) takes(k document.Kind) bool {
	return len(o.Types) == 0 || slices.Contains(o.Types, string(k))
}
