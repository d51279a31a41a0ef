package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"gleaner/internal/ingest/archive"
	"gleaner/internal/web/page"
)

// Bounds of a list of archives.
const (
	listBytes = 256 << 20 // unpacked
	listLines = 1_000_000
	listLine  = 8 << 10
	indexPage = 4 << 20 // bytes of a web page that lists archives
)

// look tells whether an address is of an archive or of a list of archives, by its
// name or else by its content, and takes the list.
func (w *web) look(ctx context.Context, where string) error {
	u, err := url.Parse(where)
	if err != nil || u.Host == "" || u.User != nil {
		return errors.New("it is no address of a file")
	}
	if _, err := w.file(ctx, where); err != nil || ArchiveName(path.Base(u.Path)) {
		return err
	}
	file, err := w.Open(ctx, where, 0)
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(file, 64<<10)
	head, err := in.Peek(32 << 10)
	if err != nil && err != io.EOF {
		return err
	}
	if _, err := archive.New(archive.Once(bytes.NewReader(head)), archive.Position{}); !errors.Is(err, archive.ErrNoArchive) {
		return nil
	}
	if trimmed := bytes.TrimSpace(head); len(trimmed) > 0 && trimmed[0] == '<' {
		w.names, err = linked(where, in)
	} else {
		w.names, err = listed(u, in)
	}
	if err == nil && len(w.names) == 0 {
		err = fmt.Errorf("%s names no WARC or ARC files", where)
	}
	return err
}

// linked are the archives that a web page links to.
func linked(where string, in io.Reader) (names []string, err error) {
	body, err := io.ReadAll(io.LimitReader(in, indexPage+1))
	if err == nil && len(body) > indexPage {
		err = fmt.Errorf("%s has more than %d MiB: make a list of it", where, indexPage>>20)
	}
	if err != nil {
		return nil, err
	}
	p, err := page.Parse(where, http.Header{"Content-Type": {"text/html"}}, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	for _, l := range p.Links {
		if u, err := url.Parse(l.URL); err == nil && ArchiveName(path.Base(u.Path)) {
			names = append(names, l.URL)
		}
	}
	if slices.Contains(p.Truncated, page.CutLinks) {
		return nil, fmt.Errorf("%s has more or longer links than are read of a page, %d of which are of archives: make a list of it", where, len(names))
	}
	return names, nil
}

// listed are the archives of a list of a web server, an address or a path a line.
func listed(base *url.URL, in *bufio.Reader) (names []string, err error) {
	return Listed(base.String(), in, func(line string) (string, error) {
		u, err := resolve(base, line)
		if err != nil || !ArchiveName(path.Base(u.Path)) {
			return "", errors.New("no archive")
		}
		return u.String(), nil
	})
}

// ListName reports whether a file is named like a list of archives.
func ListName(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	return strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".paths")
}

// Listed are the archives of a list of a name, one a line, packed or not. resolve makes a
// line the archive that it names; its error is of one that names none.
func Listed(list string, in *bufio.Reader, resolve func(line string) (string, error)) (names []string, err error) {
	var text io.Reader = in
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		if text, err = gzip.NewReader(in); err != nil {
			return nil, fmt.Errorf("%s: %w", list, err)
		}
	}
	whole := &io.LimitedReader{R: text, N: listBytes + 1}
	lines := bufio.NewScanner(whole)
	lines.Buffer(nil, listLine)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, err := resolve(line)
		if len(names) == listLines {
			return nil, fmt.Errorf("%s names more than %d archives: cut it in parts", list, listLines)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of %s, %.100q, is the name of no WARC or ARC file", n, list, line)
		}
		names = append(names, name)
	}
	if err := lines.Err(); errors.Is(err, ErrAway) {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", list, err)
	}
	if whole.N == 0 {
		return nil, fmt.Errorf("%s has more than %d MiB, and %d archives are named in those: cut it in parts", list, listBytes>>20, len(names))
	}
	return names, nil
}

// resolve makes an address of a line: it is one, or a path below the list's folder.
// One that begins with the whole path of that folder, as those of Common Crawl's lists
// do, is below the server's root.
func resolve(base *url.URL, line string) (*url.URL, error) {
	if folder := strings.TrimPrefix(path.Dir(base.Path), "/") + "/"; folder != "/" && strings.HasPrefix(line, folder) {
		line = "/" + line
	}
	u, err := base.Parse(line)
	if err == nil && (!Web(u.String()) || u.User != nil) {
		err = errors.New("no address of the web")
	}
	return u, err
}

// ArchiveName reports whether a file is named like an archive, as a whole one or as
// one that a crawler still writes.
func ArchiveName(name string) bool {
	name = strings.ToLower(name)
	for _, s := range []string{".warc", ".arc"} {
		if _, rest, ok := strings.Cut(name, s); ok && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	return strings.HasSuffix(name, ".wacz")
}
