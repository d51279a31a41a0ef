package ingest

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/ingest/archive"
)

// manifest understands a CSV file whose first line names its columns.
type manifest struct {
	folder string
	comma  rune
	column map[string]int
	width  int
}

// csvList is a manifest; its paths are below its own folder.
func csvList(path string, info os.FileInfo) ([]list, error) {
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: name the manifest in it", path)
	}
	folder := filepath.Dir(path)
	return []list{{path, folder, &manifest{folder: folder}}}, nil
}

// columns are the names of a manifest's columns, and others that are understood.
func columns() map[string]string {
	return map[string]string{"url": "url", "uri": "url", "path": "path", "file": "path", "filename": "path", "parent": "parent", "parenturl": "parent", "referrer": "parent",
		"seed": "seed", "isseed": "seed", "depth": "depth", "crawledat": "crawled at", "crawltime": "crawled at", "crawled": "crawled at", "date": "crawled at",
		"mimetype": "mime type", "mime": "mime type", "contenttype": "mime type", "mediatype": "mime type", "sha1": "sha1"}
}

func (m *manifest) header() bool { return true }

// whole implements parser: a quoted field may have several lines.
func (m *manifest) whole(lines []byte) bool {
	n := bytes.Count(lines, []byte{'"'})
	return n%2 == 0
}

func (m *manifest) begin(line string) error {
	m.comma = ','
	for _, c := range []rune{';', '\t'} {
		if strings.Count(line, string(c)) > strings.Count(line, string(m.comma)) {
			m.comma = c
		}
	}
	names, err := m.split(line)
	if err != nil {
		return err
	}
	m.column, m.width = map[string]int{}, len(names)
	known := columns()
	for i, name := range names {
		name = known[strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(strings.TrimSpace(name)))]
		if _, twice := m.column[name]; twice && name != "" {
			return fmt.Errorf("two columns are the %s", name)
		}
		m.column[name] = i
	}
	for _, name := range []string{"url", "path"} {
		if _, is := m.column[name]; !is {
			return fmt.Errorf("no column is named %s; columns are url, path, parent, seed, depth, crawled at, mime type, sha1", name)
		}
	}
	return nil
}

func (m *manifest) split(line string) ([]string, error) {
	r := csv.NewReader(strings.NewReader(line))
	r.Comma = m.comma
	r.FieldsPerRecord = -1
	fields, err := r.Read()
	if e, ok := errors.AsType[*csv.ParseError](err); ok {
		return nil, e.Err
	}
	return fields, err
}

func (m *manifest) parse(lines []byte) (*Resource, []string, error) {
	if strings.TrimSpace(string(lines)) == "" {
		return nil, nil, nil
	}
	fields, err := m.split(string(lines))
	if err != nil {
		return nil, nil, err
	}
	if len(fields) != m.width {
		return nil, nil, fmt.Errorf("%d fields, and the first line has %d", len(fields), m.width)
	}
	get := func(name string) string {
		if i, is := m.column[name]; is {
			return strings.TrimSpace(fields[i])
		}
		return ""
	}
	r := &Resource{URL: get("url"), Parent: get("parent"), Media: get("mime type"), Depth: -1}
	name := get("path")
	switch {
	case r.URL == "":
		return nil, nil, errors.New("no url")
	case name == "":
		return nil, nil, errors.New("no path")
	}
	r.Header = http.Header{"Content-Type": {r.Media}}
	if d := get("depth"); d != "" {
		depth, err := strconv.ParseInt(d, 10, 32)
		if err != nil || depth < 0 {
			return nil, nil, fmt.Errorf("depth: %.20q is no number", d)
		}
		r.Depth = int(depth)
	}
	if s := get("seed"); s != "" {
		if r.Seed, err = truth(s); err != nil {
			return nil, nil, err
		}
	}
	if r.Crawled, err = moment(get("crawled at")); err != nil {
		return nil, nil, err
	}
	if s := get("sha1"); s != "" {
		if r.SHA1 = archive.SHA1("sha1:" + s); r.SHA1 == nil {
			return nil, nil, fmt.Errorf("sha1: %q is none", s)
		}
	}
	return r, []string{below(m.folder, name)}, nil
}

func truth(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "1", "true", "yes", "y", "t":
		return true, nil
	case "0", "false", "no", "n", "f":
		return false, nil
	}
	return false, fmt.Errorf("seed: %q is neither true nor false", s)
}

// moment reads a time as lists have it: RFC 3339, that of SQL, a day, or Heritrix's.
func moment(s string) (t time.Time, err error) {
	if s == "" {
		return t, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateTime, time.DateOnly, "2006-01-02T15:04:05", "20060102150405"} {
		if t, err = time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return t, fmt.Errorf("crawled at: %q is no time such as 2006-01-02T15:04:05Z", s)
}
