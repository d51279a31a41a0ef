package repository

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"gleaner/internal/gleaner"
)

// Item is a document to be written out. Paper may be empty, where the document
// matched nothing that was wanted.
type Item struct {
	ID         int64  // number of the document, for CiteSeerX's layout
	SHA256     string // its name here
	SHA1       string
	Paper      gleaner.Paper
	Title      string // of the document, where Paper is empty
	URL        string
	ParentURL  string
	Extension  string // "pdf", "ps", "html"; "" is pdf
	MediaType  string // "" is what the extension says
	Status     int    // of the answer; 0 is 200
	Header     http.Header
	FetchedAt  time.Time
	Discovered time.Time
	References []string // entries of its reference list
}

func (it Item) extension() string {
	return cmp.Or(strings.TrimPrefix(it.Extension, "."), "pdf")
}

func (it Item) mediaType() string {
	return cmp.Or(it.MediaType, MediaType(it.extension()))
}

// MediaType is that of files whose names end so, without the dot.
func MediaType(extension string) string {
	switch extension {
	case "pdf":
		return "application/pdf"
	case "ps":
		return "application/postscript"
	case "html":
		return "text/html"
	}
	return "application/octet-stream"
}

// Extension is how the names of files of a kind of document end, without the dot.
func Extension(kind string) string {
	switch kind {
	case "postscript":
		return "ps"
	case "pdf", "dvi", "djvu", "html", "epub":
		return kind
	case "latex":
		return "tex"
	case "word":
		return "doc"
	}
	return "bin"
}

// Exported says where an item went.
type Exported struct {
	Item Item
	Path string // below the folder, with slashes
}

// CiteSeerXPath is the path of a document in CiteSeerX's repository, without
// its ending: 1234567 is "001/234/567/001.234.567" (Wu et al., WIDM 2012, §4).
func CiteSeerXPath(id int64) (string, error) {
	if id < 0 {
		return "", fmt.Errorf("document id %d: want a number from 0", id)
	}
	digits := strconv.FormatInt(id, 10)
	digits = strings.Repeat("0", max(9-len(digits), (3-len(digits)%3)%3)) + digits
	var parts []string
	for i := 0; i < len(digits); i += 3 {
		parts = append(parts, digits[i:i+3])
	}
	return strings.Join(parts, "/") + "/" + strings.Join(parts, "."), nil
}

// metFile is the .met file beside a document in CiteSeerX's layout.
type metFile struct {
	XMLName      xml.Name `xml:"CrawlData"`
	CrawlDate    string   `xml:"crawlDate"`
	LastModified string   `xml:"lastModified"`
	URL          string   `xml:"url"`
	ParentURL    string   `xml:"parentUrl"`
	SHA1         string   `xml:"SHA1"`
	SHA256       string   `xml:"SHA256"`
	Paper        string   `xml:"paper,omitempty"`
	Title        string   `xml:"title,omitempty"`
	Year         int      `xml:"year,omitempty"`
	Authors      []string `xml:"authors>author,omitempty"`
	References   []string `xml:"references>reference,omitempty"`
}

// ExportCiteSeerX writes documents below dir in CiteSeerX's layout: the document,
// its .met (001.234.567.pdf.met) and, where its text is known, its .txt (001.234.567.txt). A file that is there already
// is replaced: a new version of a document takes the place of the old one.
func (r *Repository) ExportCiteSeerX(ctx context.Context, dir string, items iter.Seq[Item], done func(Exported) error) error {
	for it := range items {
		base, err := CiteSeerXPath(it.ID)
		if err != nil {
			return err
		}
		name := base + "." + it.extension()
		if err := r.copyOut(ctx, it.SHA256, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return err
		}
		met, err := xml.MarshalIndent(it.met(), "", "  ")
		if err != nil {
			return err
		}
		out := filepath.Join(dir, filepath.FromSlash(base))
		if err := replaceFile(filepath.Join(dir, filepath.FromSlash(name))+".met", strings.NewReader(xml.Header+string(met)+"\n")); err != nil {
			return typed(err)
		}
		text, err := r.GetText(ctx, it.SHA256)
		switch {
		case errors.Is(err, ErrNotFound):
		case err != nil:
			return err
		default:
			if err := replaceFile(out+".txt", strings.NewReader(text)); err != nil {
				return typed(err)
			}
		}
		if err := tell(done, Exported{it, name}); err != nil {
			return err
		}
	}
	return nil
}

func (it Item) met() metFile {
	m := metFile{URL: it.URL, ParentURL: it.ParentURL, SHA1: it.SHA1, SHA256: it.SHA256, References: it.References,
		Paper: it.Paper.Key, Title: it.title(), Year: it.Paper.Year, Authors: gleaner.Names(it.Paper.Authors), LastModified: it.Header.Get("Last-Modified")}
	if !it.FetchedAt.IsZero() {
		m.CrawlDate = it.FetchedAt.UTC().Format(time.RFC3339)
	}
	return m
}

func (it Item) title() string {
	return cmp.Or(it.Paper.Title, it.Title)
}

// ExportTree writes documents below dir with names for people:
// "webdb/2003/Lovelace - On engines.pdf". Where two documents have one name, the
// later one gets the beginning of its digest behind it.
func (r *Repository) ExportTree(ctx context.Context, dir string, items iter.Seq[Item], done func(Exported) error) error {
	return tree(ctx, r, items, done, func(name string, _ time.Time, body io.Reader) error {
		return replaceFile(filepath.Join(dir, filepath.FromSlash(name)), body)
	})
}

// ExportZip writes documents into an archive by the names of ExportTree.
func (r *Repository) ExportZip(ctx context.Context, z *zip.Writer, items iter.Seq[Item], done func(Exported) error) error {
	return tree(ctx, r, items, done, func(name string, fetched time.Time, body io.Reader) error {
		if fetched.IsZero() {
			fetched = time.Now()
		}
		// Most documents are compressed.
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Modified: fetched})
		if err == nil {
			_, err = io.Copy(w, body)
		}
		return err
	})
}

// tree gives each item its readable name and its file to write.
func tree(ctx context.Context, r *Repository, items iter.Seq[Item], done func(Exported) error, write func(name string, fetched time.Time, body io.Reader) error) error {
	taken := map[string]string{} // name in lower case, as some file systems see it → digest
	for it := range items {
		name := it.ReadableName()
		low := strings.ToLower(name)
		if sha, ok := taken[low]; ok && sha != it.SHA256 {
			ext := path.Ext(name)
			name = fmt.Sprintf("%s (%.8s)%s", strings.TrimSuffix(name, ext), it.SHA256, ext)
			low = strings.ToLower(name)
		}
		taken[low] = it.SHA256
		body, err := r.Get(ctx, it.SHA256)
		if err != nil {
			return err
		}
		err = write(name, it.FetchedAt, withContext(ctx, body))
		_ = body.Close()
		if err != nil {
			return typed(err)
		}
		if err := tell(done, Exported{it, name}); err != nil {
			return err
		}
	}
	return nil
}

// ReadableName is the path of an item in a tree by venue and year, with slashes.
// It holds no sign that a common file system refuses, and no part is longer than
// 150 bytes.
func (it Item) ReadableName() string {
	folder := cmp.Or(strings.TrimPrefix(strings.TrimPrefix(it.Paper.Venue, "conf/"), "journals/"), "unmatched")
	year := "undated"
	if it.Paper.Year != 0 {
		year = strconv.Itoa(it.Paper.Year)
	}
	name := it.title()
	if as := it.Paper.Surnames(); len(as) > 0 {
		by := as[0]
		if len(as) == 2 {
			by += " and " + as[1]
		} else if len(as) > 2 {
			by += " et al."
		}
		name = by + " - " + name
	}
	if strings.TrimSpace(name) == "" {
		name = fmt.Sprintf("%.16s", it.SHA256)
	}
	return fileName(folder) + "/" + year + "/" + fileName(name) + "." + fileName(it.extension())
}

// fileName makes one part of a path out of any text.
func fileName(s string) string {
	s = norm.NFC.String(s)
	s = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`/\:*?"<>|{}`, r):
			return ' '
		case unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	for len(s) > 150 {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	s = strings.Trim(s, ". ")
	if s == "" || device.MatchString(s) {
		return "_" + s
	}
	return s
}

// device is what Windows takes for one of its devices, whatever ends the name.
var device = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[1-9]|lpt[1-9]) *(\.|$)`)

func (r *Repository) copyOut(ctx context.Context, sha256, to string) error {
	rd, err := r.Get(ctx, sha256)
	if err != nil {
		return err
	}
	defer func() { _ = rd.Close() }()
	return typed(replaceFile(to, withContext(ctx, rd)))
}

// replaceFile writes a file that others see whole or not at all.
func replaceFile(to string, body io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(to), ".partial-*")
	if err != nil {
		return err
	}
	defer func() {
		_ = tmp.Close()
		_ = os.Remove(tmp.Name())
	}()
	if _, err := io.Copy(tmp, body); err != nil {
		return err
	}
	if err := tmp.Chmod(0o644); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), to)
}

func tell(done func(Exported) error, e Exported) error {
	if done == nil {
		return nil
	}
	return done(e)
}
