package evaluate

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// ErrMissing is returned by a Site for an address that it does not hold.
var ErrMissing = errors.New("evaluate: not in the snapshot")

// Answer is what a site gives for one address.
type Answer struct {
	URL      string     // after redirects, canonical
	Page     *page.Page // nil for a document
	Document bool
	Body     []byte // nil where the site does not have it at hand
}

// Site is a recorded snapshot of one host.
type Site interface {
	// Start is the canonical URL where a crawl begins.
	Start() string
	// Get answers like the server did; ErrMissing where it did not. The same
	// address gives the same answer every time.
	Get(url string) (Answer, error)
}

// ParseFunc understands a page; page.Parse is the one of the product.
type ParseFunc func(pageURL string, header http.Header, body []byte) (*page.Page, error)

// Folder is a mirror of a host in a folder tree, one file per path, index files
// for directories.
type Folder struct {
	files fs.FS
	host  string
	parse ParseFunc
	cache map[string]Answer
}

// NewFolder reads the mirror of host ("www.example.org") from files.
func NewFolder(files fs.FS, host string, parse ParseFunc) *Folder {
	return &Folder{files: files, host: host, parse: parse, cache: map[string]Answer{}}
}

// Start is the root of the host.
func (f *Folder) Start() string { return "http://" + f.host + "/" }

// Get reads and parses the file behind an address. A directory without its
// closing slash is answered, like a server's redirect, with the slash.
func (f *Folder) Get(raw string) (Answer, error) {
	u, err := url.Parse(raw)
	if err != nil || !strings.EqualFold(u.Host, f.host) {
		return Answer{}, ErrMissing
	}
	name, dir := f.resolve(u.Path)
	if name == "" {
		return Answer{}, ErrMissing
	}
	if dir && !strings.HasSuffix(u.Path, "/") {
		u.Path, u.RawPath = u.Path+"/", ""
	}
	u.RawQuery, u.Fragment = "", "" // a mirror by paths knows no queries
	final := u.String()
	if a, ok := f.cache[final]; ok {
		return a, nil
	}
	a := Answer{URL: final, Document: weburl.IsDocumentName("http://" + f.host + "/" + name)}
	if !a.Document && isPageName(name) {
		body, err := fs.ReadFile(f.files, name)
		if err != nil {
			return Answer{}, err
		}
		if a.Page, err = f.parse(final, http.Header{"Content-Type": {"text/html"}}, body); err != nil {
			return Answer{}, err
		}
		a.Body = body
	}
	f.cache[final] = a
	return a, nil
}

// resolve is the file that answers for a path, and whether it is the index of
// a directory.
func (f *Folder) resolve(p string) (name string, dir bool) {
	clean := cmp.Or(strings.TrimPrefix(path.Clean("/"+p), "/"), ".")
	if !fs.ValidPath(clean) {
		return "", false
	}
	info, err := fs.Stat(f.files, clean)
	if err != nil {
		return "", false
	}
	if !info.IsDir() {
		return clean, false
	}
	for _, index := range []string{"index.html", "index.htm", "index.php"} {
		n := path.Join(clean, index)
		if i, err := fs.Stat(f.files, n); err == nil && !i.IsDir() {
			return n, true
		}
	}
	return "", false
}

func isPageName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm", ".php", ".shtml", ".xhtml", "":
		return true
	}
	return false
}
