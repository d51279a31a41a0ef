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

// NewFolder is the mirror of a host ("www.example.org") in a folder tree, one file a
// path, index files for directories. A directory without its closing slash is answered,
// like a server's, by a redirect, and so is a query, which a mirror by paths does not know.
// Files other than pages are not read.
func NewFolder(files fs.FS, host string) *Snapshot {
	return NewSnapshot("http://"+host+"/", func(raw string) (r Recorded, err error) {
		u, err := url.Parse(raw)
		if err != nil || !strings.EqualFold(u.Host, host) {
			return r, ErrMissing
		}
		name, dir := resolve(files, u.Path)
		if name == "" {
			return r, ErrMissing
		}
		if slashed := strings.HasSuffix(u.Path, "/"); dir && !slashed || u.RawQuery != "" {
			if dir && !slashed {
				u.Path, u.RawPath = u.Path+"/", ""
			}
			u.RawQuery = ""
			return Recorded{Status: http.StatusMovedPermanently, Header: http.Header{"Location": {u.String()}}}, nil
		}
		r = Recorded{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(neither)}
		switch {
		case weburl.IsDocumentName("http://" + host + "/" + name):
			r.Body = []byte(someDocument + raw)
		case isPageName(name):
			r.Body, err = fs.ReadFile(files, name)
		}
		return r, err
	})
}

// resolve is the file that answers for a path, and whether it is the index of
// a directory.
func resolve(files fs.FS, p string) (name string, dir bool) {
	clean := cmp.Or(strings.TrimPrefix(path.Clean("/"+p), "/"), ".")
	if !fs.ValidPath(clean) {
		return "", false
	}
	info, err := fs.Stat(files, clean)
	if err != nil {
		return "", false
	}
	if !info.IsDir() {
		return clean, false
	}
	for _, index := range []string{"index.html", "index.htm", "index.php"} {
		n := path.Join(clean, index)
		if i, err := fs.Stat(files, n); err == nil && !i.IsDir() {
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
