package ingest

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"gleaner/internal/document"
	"gleaner/internal/each"
	"gleaner/internal/ingest/source"
)

// Formats are the words for what an import reads; Auto tells by content.
const (
	Auto     = "auto"
	WARC     = "warc"
	ARC      = "arc"
	Folder   = "folder"   // files whose URLs a template makes
	Mirror   = "mirror"   // files whose paths are their URLs, as wget and HTTrack keep them
	CSV      = "csv"      // a manifest
	Heritrix = "heritrix" // a crawl.log and a mirror
)

// Formats are all words for what an import reads.
func Formats() []string { return []string{Auto, WARC, ARC, Heritrix, Mirror, Folder, CSV} }

// Options are what a person asks of an import.
type Options struct {
	Paths []string `json:"paths"` // files or folders, as the worker sees them, or addresses of what is elsewhere
	// Within is the folder that paths have to stay in, with links followed; "" for none.
	Within string `json:"within,omitempty"`
	Format string `json:"format,omitempty"` // "" is Auto
	// Of files that say less of themselves: templates of their URLs and of the pages
	// that led to them, and the day (2006-01-02) on which they were got.
	URLs   string `json:"urls,omitempty"`
	Parent string `json:"parent,omitempty"`
	Date   string `json:"date,omitempty"`
	// Unfiltered switches the document content filter off, Unrecorded the record:
	// then files are judged and, with To, copied, and the collection stays as it is.
	Unfiltered bool     `json:"unfiltered,omitempty"`
	Unrecorded bool     `json:"unrecorded,omitempty"`
	Types      []string `json:"types,omitempty"`     // kinds of file that are taken; none are all that a crawl takes
	To         string   `json:"to,omitempty"`        // a folder or bucket of their own for the documents that are saved
	Blacklist  []string `json:"blacklist,omitempty"` // hosts whose resources are passed over
}

// Fields are the names of the options as people give them, but for the paths and To.
func Fields() []string {
	return []string{"format", "urls", "parent", "date", "filter", "record", "types", "blacklist"}
}

// Set sets an option by its name; lists have commas or blanks between. The error is ErrInput.
func (o *Options) Set(name, value string) error {
	value = strings.TrimSpace(value)
	list := func() []string {
		return strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	}
	switch name {
	case "types":
		o.Types = list()
	case "blacklist":
		o.Blacklist = list()
	case "filter", "record":
		if value != "" && value != "on" && value != "off" {
			return fmt.Errorf("%w: %s is on or off, not %q", ErrInput, name, value)
		}
		*map[string]*bool{"filter": &o.Unfiltered, "record": &o.Unrecorded}[name] = value == "off"
	default:
		*map[string]*string{"format": &o.Format, "urls": &o.URLs, "parent": &o.Parent, "date": &o.Date}[name] = value
	}
	return nil
}

// Get is an option as Set takes it, "" where that is the default.
func (o Options) Get(name string) string {
	off := map[bool]string{true: "off"}
	return map[string]string{
		"format": o.Format, "urls": o.URLs, "parent": o.Parent, "date": o.Date, "filter": off[o.Unfiltered], "record": off[o.Unrecorded],
		"types": strings.Join(o.Types, ","), "blacklist": strings.Join(o.Blacklist, "\n"),
	}[name]
}

// Check reports what is wrong with the options.
func (o Options) Check() error {
	switch {
	case len(o.Paths) == 0:
		return fmt.Errorf("%w: nothing is named to be imported", ErrInput)
	case o.Format != "" && !slices.Contains(Formats(), o.Format):
		return fmt.Errorf("%w: --format is one of %s, not %q", ErrInput, strings.Join(Formats(), ", "), o.Format)
	}
	if err := o.checkFiles(); err != nil {
		return err
	}
	for _, t := range o.Types {
		if k := document.Kind(t); !k.IsDocument() && !k.IsPacked() {
			return fmt.Errorf("%w: --types: no document comes in a file of kind %q; kinds are %s", ErrInput, t, strings.Join(Kinds(), ", "))
		}
	}
	return nil
}

// checkFiles reports what is wrong with what is said of files.
func (o Options) checkFiles() error {
	files := o.Format == Folder || o.Format == Mirror
	switch {
	case o.Format == Folder && o.URLs == "":
		return fmt.Errorf("%w: --format folder needs --urls, such as https://www.example.edu/papers/{path}", ErrInput)
	case !files && o.URLs+o.Parent+o.Date != "":
		return fmt.Errorf("%w: --urls, --parent and --date are for --format folder and mirror: other logs say it of each file", ErrInput)
	}
	if (o.Format == CSV || o.Format == Heritrix) && slices.ContainsFunc(o.Paths, source.Remote) {
		return fmt.Errorf("%w: --format %s is read from files and folders of the worker's machine alone", ErrInput, o.Format)
	}
	if o.Within != "" && slices.ContainsFunc(o.Paths, source.Remote) {
		return fmt.Errorf("%w: only what lies within %s is imported", ErrInput, o.Within)
	}
	for _, p := range o.Paths {
		if files && source.Web(p) {
			return fmt.Errorf("%w: a web server lists no files for --format %s: its archives can be imported", ErrInput, o.Format)
		}
		if err := source.Check(p); err != nil {
			return fmt.Errorf("%w: %w", ErrInput, err)
		}
	}
	if _, err := time.Parse(time.DateOnly, o.Date); o.Date != "" && err != nil {
		return fmt.Errorf("%w: --date is a day such as 2005-06-30, not %q", ErrInput, o.Date)
	}
	if err := checkTemplate("urls", o.URLs, true); err != nil {
		return err
	}
	return checkTemplate("parent", o.Parent, false)
}

// date is the day on which files were got; zero where nobody says.
func (o Options) date() time.Time {
	day, _ := time.Parse(time.DateOnly, o.Date)
	return day
}

// Kinds are the kinds of file in which documents come, the words for Options.Types.
func Kinds() []string {
	return each.Text([]document.Kind{document.PDF, document.PostScript, document.DVI, document.DjVu, document.Word, document.LaTeX, document.Presentation, document.EPUB,
		document.HTML, document.XML, document.PlainText, document.Gzip, document.Compress, document.Bzip2, document.Zip, document.Tar})
}

// takes reports whether files of a kind are taken.
func (o Options) takes(k document.Kind) bool {
	return len(o.Types) == 0 || slices.Contains(o.Types, string(k))
}
