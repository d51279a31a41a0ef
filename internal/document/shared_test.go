package document

import (
	"net/url"
	"os"
	"path/filepath"
)

// localFile is where a mirror keeps what a URL names.
func localFile(dir, rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", err
	}
	p := filepath.Join(dir, u.Host, filepath.FromSlash(u.Path))
	if _, err := os.Stat(p); err == nil {
		return p, nil
	}
	return filepath.Join(dir, u.Host, filepath.FromSlash(u.EscapedPath())), nil
}
