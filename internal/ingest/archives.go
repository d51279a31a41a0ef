package ingest

import (
	"bytes"
	"context"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gleaner/internal/ingest/archive"
)

// archives is the log of archive files, read one after the other.
type archives struct {
	files   []string // in order
	sizes   []int64
	i       int   // the file that is read
	before  int64 // bytes of the files before
	total   int64
	from    Position
	open    *os.File
	head    *os.File
	in      *archive.Reader
	log     *beside   // nil where there is none
	last    *Resource // whose parent may be named yet
	lastID  string
	ahead   said // about a resource that is yet to come
	between error
	over    func() error // why reading is to stop; nil where it is not
}

// said is what a request or metadata record says of a resource.
type said struct {
	url, parent, path string
}

// openArchives opens archive files, or folders of them, at a position.
func openArchives(paths []string, from Position) (*archives, error) {
	files, err := archiveFiles(paths)
	if err != nil {
		return nil, err
	}
	a := &archives{files: files, from: from}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInput, err)
		}
		a.sizes = append(a.sizes, info.Size())
		a.total += info.Size()
	}
	if from.File != "" {
		if a.i = slices.Index(files, from.File); a.i < 0 {
			return nil, fmt.Errorf("%w: %s, where the import was, is not there any more", ErrInput, from.File)
		}
	}
	for _, size := range a.sizes[:a.i] {
		a.before += size
	}
	return a, nil
}

// archiveFiles lists the files of paths, those of a folder by name.
func archiveFiles(paths []string) (files []string, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInput, err)
		}
		found := []string{p}
		switch {
		case info.IsDir():
			if found, err = filesIn(p); err != nil {
				return nil, err
			}
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%w: %s is neither a file nor a folder", ErrInput, p)
		}
		files = append(files, found...)
	}
	named := map[string]bool{}
	return slices.DeleteFunc(files, func(f string) bool { // who is named twice is read once
		before := named[f]
		named[f] = true
		return before
	}), nil
}

// filesIn lists the archives below a folder, those that it links to as well.
func filesIn(folder string) (files []string, err error) {
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !archiveName(d.Name()) {
			return err
		}
		kind := d.Type()
		if kind == fs.ModeSymlink {
			info, err := os.Stat(path)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrInput, err)
			}
			kind = info.Mode().Type()
		}
		if kind.IsRegular() {
			files = append(files, path)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%w: %s holds no WARC or ARC files", ErrInput, folder)
	}
	return files, err
}

// archiveName reports whether a file in a folder is named like an archive, as a
// whole one or as one that a crawler still writes.
func archiveName(name string) bool {
	name = strings.ToLower(name)
	for _, s := range []string{".warc", ".arc"} {
		if _, rest, ok := strings.Cut(name, s); ok && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	return false
}

// Read implements Log.
func (a *archives) Read() (done, total int64) {
	done = a.before
	if a.open != nil {
		if at, err := a.open.Seek(0, io.SeekCurrent); err == nil {
			done += at
		}
	}
	return done, a.total
}

// Close implements Log.
func (a *archives) Close() error {
	a.shut()
	return nil
}

func (a *archives) shut() {
	if a.in != nil {
		a.in.Close()
	}
	for _, f := range []*os.File{a.open, a.head} {
		if f != nil {
			_ = f.Close()
		}
	}
	a.log.close()
	a.in, a.open, a.head, a.log = nil, nil, nil, nil
}

// Next implements Log.
func (a *archives) Next(ctx context.Context) (*Resource, error) {
	a.over = func() error { return context.Cause(ctx) }
	for a.i < len(a.files) {
		r, err := a.next()
		if over := a.over(); over != nil {
			return nil, over // and nothing is wrong with the file
		}
		switch {
		case errors.Is(err, io.EOF):
			a.endFile()
			continue
		case err != nil:
			return nil, err
		}
		if r != nil {
			return r, nil
		}
	}
	return nil, io.EOF
}

func (a *archives) endFile() {
	a.shut()
	a.before += a.sizes[a.i]
	a.i, a.from, a.last, a.ahead, a.between = a.i+1, Position{}, nil, said{}, nil
}

// next reads a record; nil is one that is no resource.
func (a *archives) next() (*Resource, error) {
	if a.between != nil {
		return nil, a.between
	}
	pass := a.from.Pass
	if a.in == nil {
		if err := a.begin(); err != nil {
			return a.broken(err)
		}
	}
	r, err := a.in.Next()
	if err != nil {
		return a.broken(err)
	}
	if a.from.Pass = 0; pass > 0 {
		return nil, nil // the record was taken before; what comes behind it was not
	}
	return a.resource(r), nil
}

func (a *archives) begin() (err error) {
	file := a.files[a.i]
	if a.open, err = os.Open(file); err != nil {
		return err
	}
	a.log = openBeside(file)
	at := a.from.Position
	if at == (archive.Position{}) {
		a.in, err = archive.New(reading{a.open, a}, nil, at)
		return err
	}
	info, err := a.open.Stat()
	if err != nil {
		return err
	}
	if info.Size() <= at.Offset { // there was a record
		return &archive.Damage{At: at, Err: io.ErrUnexpectedEOF}
	}
	if a.head, err = os.Open(file); err != nil {
		return err
	}
	if _, err = a.open.Seek(at.Offset, io.SeekStart); err != nil {
		return err
	}
	a.in, err = archive.New(reading{a.open, a}, reading{a.head, a}, at)
	return err
}

// reading is a file that is read until reading is to stop: a few bytes of it may
// unpack to so many that a record has no end.
type reading struct {
	*os.File
	of *archives
}

func (r reading) Read(p []byte) (int, error) {
	if err := r.of.over(); err != nil {
		return 0, err
	}
	return r.File.Read(p)
}

// broken makes what cannot be read of a file a resource that says so; the file
// ends there.
func (a *archives) broken(err error) (*Resource, error) {
	if errors.Is(err, io.EOF) {
		return nil, err
	}
	a.between = io.EOF
	r := &Resource{At: Position{File: a.files[a.i]}, Source: a.files[a.i], Skip: Damaged, Detail: err.Error(), Depth: -1}
	var d *archive.Damage
	switch {
	case errors.As(err, &d):
		if r.At.Position = d.At; d.Within {
			r.At.Pass = 1
		}
	case errors.Is(err, archive.ErrNoArchive):
		r.Skip = NoArchive
	}
	return r, nil
}

// resource is what a record says that a crawler got; nil where it is about
// something else.
func (a *archives) resource(r *archive.Record) *Resource {
	switch r.Type {
	case archive.Metadata, archive.Request:
		a.hear(r)
		return nil
	case archive.Response, archive.Resource, archive.Revisit:
	default:
		return nil
	}
	res := &Resource{At: Position{File: a.files[a.i], Position: r.At}, Source: a.files[a.i], URL: r.URL, Crawled: r.Date, Media: r.Media, Depth: -1, SHA1: digest(r.Header.Get("WARC-Payload-Digest"))}
	a.last, a.lastID = res, r.Header.Get("WARC-Record-ID")
	a.log.tell(res, a.over)
	if a.ahead.url == r.URL {
		res.hear(a.ahead)
	}
	a.ahead = said{}
	if r.Type == archive.Revisit {
		res.Again, res.SameAs = true, strings.Trim(r.Header.Get("WARC-Refers-To-Target-URI"), "<>")
		if strings.HasSuffix(r.Header.Get("WARC-Profile"), "/server-not-modified") {
			res.SHA1 = nil // of the answer that had no body
		}
		return res
	}
	scheme, _, _ := strings.Cut(r.URL, ":")
	if scheme = strings.ToLower(scheme); scheme == "dns" || scheme == "whois" {
		res.Skip = scheme
		return res
	}
	p, err := r.Payload()
	if err != nil {
		res.Skip, res.Detail = NoAnswer, err.Error()
		return res
	}
	res.Media, res.Header = p.Media, p.Header
	if p.Status != 0 && p.Status != 200 && p.Status != 203 {
		res.Skip = "status " + strconv.Itoa(p.Status)
		p.Close()
		return res
	}
	if p.Header.Get("Content-Encoding") != "" || p.Header.Get("Transfer-Encoding") != "" {
		res.SHA1 = nil // of the body as it was packed
	}
	res.Open = func() (io.ReadCloser, error) { return payload{p}, nil }
	return res
}

type payload struct{ *archive.Payload }

func (p payload) Read(b []byte) (int, error) { return p.Body.Read(b) }
func (p payload) Close() error               { p.Payload.Close(); return nil }

// maxSaid bounds what is read of a record about another one.
const maxSaid = 64 << 10

// hear takes what a request or a metadata record says of a resource: of the last
// one, or of one that comes.
func (a *archives) hear(r *archive.Record) {
	block, _ := io.ReadAll(io.LimitReader(r.Block, maxSaid))
	s := said{url: r.URL}
	for line := range bytes.Lines(block) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "via", "referer":
			s.parent = value
		case "hopsfromseed":
			s.path = value
			if value == "" {
				s.path = seedPath
			}
		}
	}
	if s.parent == "" && s.path == "" {
		return
	}
	of := r.Header.Get("WARC-Concurrent-To")
	if of == "" {
		of = r.Header.Get("WARC-Refers-To")
	}
	if a.last != nil && (of != "" && of == a.lastID || a.last.URL == s.url) {
		a.last.hear(s)
		return
	}
	a.ahead = s
}

// seedPath stands for the empty discovery path of a seed.
const seedPath = "-"

// hear notes what is said of a resource. A discovery path is Heritrix's: a letter for
// each step from the seed; L is a link, R a redirect, E and X what a page embeds, P a
// prerequisite, I what is inferred, M what a manifest lists. Links make depth.
func (r *Resource) hear(s said) {
	if s.parent != "" {
		r.Parent = s.parent
	}
	if s.path != "" {
		r.Seed = s.path == seedPath
		r.Depth = strings.Count(s.path, "L")
	}
}

// digest is the SHA-1 that a record carries; nil where it carries another or none.
func digest(said string) []byte {
	kind, sum, _ := strings.Cut(said, ":")
	if !strings.EqualFold(kind, "sha1") {
		return nil
	}
	raw, err := base32.StdEncoding.DecodeString(strings.ToUpper(sum))
	if err != nil || len(raw) != 20 {
		if raw, err = hex.DecodeString(sum); err != nil || len(raw) != 20 {
			return nil
		}
	}
	return raw
}
