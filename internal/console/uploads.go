package console

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"gleaner/internal/ingest/source"
)

// uploadsPath is where files to be imported are sent, which may be very long (maxUpload).
const uploadsPath = "/uploads"

// uploaded is a file that was sent to be imported.
type uploaded struct {
	Path string `json:"path"` // within the folder for imports
}

// uploadsFolder is where files that were sent lie in the folder for imports.
const uploadsFolder = "uploads"

// uploads are the names of the files that were sent to a folder for imports, "" for none.
func uploads(imports string) (names []string, err error) {
	if imports == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(imports)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	all, err := fs.ReadDir(root.FS(), uploadsFolder)
	for _, f := range all {
		if !strings.HasPrefix(f.Name(), ".") {
			names = append(names, f.Name())
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return names, err
}

// removeUpload removes a file that was sent.
func removeUpload(ctx context.Context, c *Console, a *asked) (any, error) {
	name := a.get("name")
	none := fmt.Errorf("%w: no file %s was sent", errNoPage, name)
	if c.ImportFolder == "" || strings.HasPrefix(name, ".") || strings.Contains(name, "/") {
		return nil, none
	}
	root, err := os.OpenRoot(c.ImportFolder)
	if err == nil {
		err = errors.Join(root.Remove(path.Join(uploadsFolder, name)), root.Close())
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = none
	}
	return c.done(ctx, a, donePage{name, "is removed", redirect{to: "/jobs"}}, err)
}

// upload keeps a file in the folder for imports, and leads on to the form that imports it.
func upload(c *Console, w http.ResponseWriter, r *http.Request) {
	name, err := keepUpload(c, w, r)
	c.log.InfoContext(r.Context(), "console: upload", "file", name, "user", user(r.Context()), "error", err)
	switch {
	case err != nil:
		c.refuse(w, &asked{Request: r}, err)
	case asJSON(r):
		c.show(w, r, http.StatusOK, "", uploaded{name})
	default:
		lead(c, w, r, redirect{"/jobs?path=" + url.QueryEscape(name) + "#new-import",
			name + " is here: say how it is imported, and start that."})
	}
}

// keepUpload keeps the file of a form, in a folder of its own, and returns its path.
func keepUpload(c *Console, w http.ResponseWriter, r *http.Request) (name string, err error) {
	if c.ImportFolder == "" {
		return "", errNoImports
	}
	if !c.uploading.TryLock() {
		return "", fmt.Errorf("%w: somebody sends a file now: try again when it is here", errInput)
	}
	defer c.uploading.Unlock()
	free, err := source.FreeBytes(c.ImportFolder)
	if err != nil {
		return "", fmt.Errorf("%w: the folder for imports is not here: %w", errInput, err)
	}
	most := min(maxUpload, free/4) // as much as a download of an import may take
	if r.ContentLength > most {
		return "", fmt.Errorf("%w: a file may have %d MB now", errTooLarge, most>>20)
	}
	r.Body = http.MaxBytesReader(w, unhurriedBody{r.Body, http.NewResponseController(w),
		time.Now().Add(downloadTime)}, most)
	form, err := r.MultipartReader()
	if err != nil {
		return "", fmt.Errorf("%w: %w", errInput, err)
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return "", fmt.Errorf("%w: choose a file", errInput)
		}
		if err != nil {
			return "", fmt.Errorf("%w: %w", errInput, err)
		}
		if name := part.FileName(); part.FormName() == "file" && name != "" {
			return writeUpload(c.ImportFolder, name, part)
		}
	}
}

// writeUpload writes a file below the folder for imports, and returns its path in it: whole, or not at all.
func writeUpload(imports, name string, from io.Reader) (string, error) {
	if !fs.ValidPath(name) || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\") || !isText(name) || len(name) > 200 {
		return "", fmt.Errorf("%w: give the file another name", errInput)
	}
	root, err := os.OpenRoot(imports)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	if err := root.Mkdir(uploadsFolder, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	at, partial := path.Join(uploadsFolder, name), path.Join(uploadsFolder, ".partial-"+rand.Text())
	if _, err := root.Lstat(at); err == nil {
		return "", fmt.Errorf("%w: there is a file %s already: give this one another name", errInput, at)
	}
	if err := sweepUploads(root); err != nil {
		return "", err
	}
	f, err := root.OpenFile(partial, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o640)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Remove(partial) }()
	_, err = io.Copy(f, from)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		err = fmt.Errorf("%w: a file may have %d MB now", errTooLarge, tooLarge.Limit>>20)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("%w: the file did not come whole", errInput)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	if err = root.Link(partial, at); errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: there is a file %s by now: give this one another name", errInput, at)
	}
	return at, err
}

// sweepUploads removes what a console that was killed left of files.
func sweepUploads(root *os.Root) error {
	left, err := fs.Glob(root.FS(), uploadsFolder+"/.partial-*")
	for _, name := range left {
		if is, gone := root.Stat(name); gone == nil && time.Since(is.ModTime()) > downloadTime {
			err = errors.Join(err, root.Remove(name))
		}
	}
	return err
}

// unhurriedBody gives each read its own time, as long as there is any left.
type unhurriedBody struct {
	io.ReadCloser
	connection *http.ResponseController
	until      time.Time
}

func (b unhurriedBody) Read(p []byte) (int, error) {
	if time.Now().After(b.until) {
		return 0, os.ErrDeadlineExceeded
	}
	_ = b.connection.SetReadDeadline(time.Now().Add(linesTime)) // in vain where there is no connection
	_ = b.connection.SetWriteDeadline(time.Now().Add(2 * linesTime))
	return b.ReadCloser.Read(p)
}
