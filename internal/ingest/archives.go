package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gleaner/internal/ingest/archive"
	"gleaner/internal/ingest/source"
)

// archives is the log of archive files, read one after the other.
type archives struct {
	watched
	only    string   // the one format that is taken; else any
	files   []stored // in order
	i       int      // the file that is read
	before  int64    // bytes of the files before
	read    int64    // of the file that is read
	from    Position
	open    io.ReadCloser
	head    io.ReadCloser
	get     func(f stored, offset int64) (io.ReadCloser, error)
	measure func(f *stored) error
	where   source.Places
	places  []source.Place // that are open
	in      *archive.Reader
	log     *beside   // nil where there is none
	last    *Resource // whose parent may be named yet
	lastID  string
	ahead   said // about a resource that is yet to come
	between error
	taken   bool         // the record at from was passed, since it had been taken
	over    func() error // why reading is to stop; nil where it is not
	begun   func(f stored) error
}

// openArchives opens archive files, or folders of them, at a position.
func openArchives(ctx context.Context, places source.Places, o Options, from Position) (*archives, error) {
	a := &archives{from: from, where: places}
	if o.Format != Auto {
		a.only = o.Format
	}
	if err := a.find(ctx, o.Paths); err != nil {
		_ = a.Close()
		return nil, err
	}
	if from.File != "" {
		if a.i = slices.IndexFunc(a.files, func(f stored) bool { return f.name == from.File }); a.i < 0 {
			_ = a.Close()
			return nil, fmt.Errorf("%w: %s, where the import was, is not there any more", ErrInput, from.File)
		}
	}
	for _, f := range a.files[:a.i] {
		a.before += max(f.size, 0)
	}
	return a, nil
}

// Read implements Log.
func (a *archives) Read() (done, total int64) {
	for _, f := range a.files {
		if total += f.size; f.size < 0 {
			return a.before + a.read, 0
		}
	}
	return a.before + a.read, total
}

// Extent implements Log.
func (a *archives) Extent() Extent {
	all := int64(len(a.files))
	return Extent{Archives: all, Archive: min(int64(a.i)+1, all)}
}

// Close implements Log.
func (a *archives) Close() error {
	a.shut()
	var err error
	for _, p := range a.places {
		err = errors.Join(err, p.Close())
	}
	a.places = nil
	return err
}

func (a *archives) shut() {
	if a.in != nil {
		a.in.Close()
	}
	for _, f := range []io.ReadCloser{a.open, a.head} {
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
	a.get = func(f stored, offset int64) (io.ReadCloser, error) { return f.open(ctx, offset) }
	a.measure = func(f *stored) error { return f.measure(ctx) }
	a.begun = func(f stored) error { return a.started(ctx, f.name) }
	for a.i < len(a.files) {
		r, err := a.next()
		if over := a.over(); over != nil {
			return nil, over // and nothing is wrong with the file
		}
		switch {
		case err == io.EOF:
			if r := a.ofNothing(); r != nil {
				return r, nil
			}
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

// ofNothing stands for a file that was read to its end, and in which there was nothing; nil
// where there was something.
func (a *archives) ofNothing() *Resource {
	if a.between != nil || a.last != nil || a.from.Position != (archive.Position{}) || a.from.Pass > 0 {
		return nil
	}
	a.between = io.EOF
	file := a.files[a.i]
	return &Resource{At: Position{File: file.name, Version: file.version}, Source: file.name, Skip: NoResource, Depth: -1}
}

func (a *archives) endFile() {
	a.shut()
	a.before, a.read = a.before+max(a.files[a.i].size, 0), 0
	a.i, a.from, a.taken, a.last, a.ahead, a.between = a.i+1, Position{}, false, nil, said{}, nil
}

// next reads a record; nil is one that is no resource.
func (a *archives) next() (*Resource, error) {
	if a.between != nil {
		return nil, a.between
	}
	if why, is := a.passes(a.files[a.i].name); is {
		return a.rest(why), nil
	}
	if a.in == nil {
		if err := a.begun(a.files[a.i]); err != nil {
			return nil, err
		}
		if err := a.begin(); err != nil {
			return a.broken(err)
		}
	}
	r, err := a.in.Next()
	if err != nil {
		return a.broken(err)
	}
	if a.from.Pass > 0 && !a.taken {
		a.taken = true
		return nil, nil // the record was taken before; what comes behind it was not
	}
	return a.resource(r), nil
}

// rest stands for what is not read of a file: it ends there.
func (a *archives) rest(why string) *Resource {
	a.between = io.EOF
	file := a.files[a.i]
	r := &Resource{At: a.from, Source: file.name, Skip: Damaged, Detail: why, Depth: -1}
	if a.last != nil {
		r.At = a.last.At
		r.At.Pass = 1
	}
	r.At.File = file.name
	return r
}

func (a *archives) begin() (err error) {
	if err := a.measure(&a.files[a.i]); err != nil {
		return err
	}
	file, at := a.files[a.i], a.from.Position
	if file.place == nil {
		a.log = openBeside(file.path)
	}
	if a.from.Version != "" && file.version != "" && a.from.Version != file.version {
		return source.ErrChanged
	}
	if at != (archive.Position{}) && file.size <= at.Offset { // there was a record
		return &archive.Damage{At: at, Err: io.ErrUnexpectedEOF}
	}
	if a.open, err = a.get(file, at.Offset); err != nil {
		return err
	}
	a.read = at.Offset
	var head io.Reader
	if at != (archive.Position{}) {
		if a.head, err = a.get(file, 0); err != nil {
			return err
		}
		head = reading{a.head, a, new(int64)}
	}
	if a.in, err = archive.New(reading{a.open, a, &a.read}, head, at); err != nil {
		return err
	}
	if kind := a.in.Kind(); a.only != "" && kind != "" && !strings.EqualFold(kind, a.only) {
		return fmt.Errorf("%w: %s, and --format is %s", errOther, kind, a.only)
	}
	return nil
}

// errOther is an archive of another format than the one that was named.
var errOther = errors.New("an archive of another format")

// reading is a file that is read until reading is to stop: a few bytes of it may
// unpack to so many that a record has no end.
type reading struct {
	io.Reader
	of   *archives
	read *int64
}

func (r reading) Read(p []byte) (int, error) {
	if err := r.of.over(); err != nil {
		return 0, err
	}
	n, err := r.Reader.Read(p)
	if *r.read += int64(n); n > 0 {
		r.of.came()
	}
	return n, err
}

// broken makes what cannot be read of a file a resource that says so; the file
// ends there.
func (a *archives) broken(err error) (*Resource, error) {
	refused := errors.Is(err, source.ErrRefused) && !source.Web(a.files[a.i].name) // by the server, and not one file of it
	if err == io.EOF || errors.Is(err, source.ErrAway) || refused {
		return nil, err
	}
	a.between = io.EOF
	file := a.files[a.i]
	r := &Resource{At: Position{File: file.name, Version: file.version}, Source: file.name, Skip: Damaged, Detail: err.Error(), Depth: -1}
	if a.in == nil && a.from.File != "" {
		r.At = a.from // it was not even opened where reading was to go on
	}
	var d *archive.Damage
	switch {
	case errors.As(err, &d):
		if r.At.Position = d.At; d.Within {
			r.At.Pass = 1
		}
	case errors.Is(err, archive.ErrNoArchive), errors.Is(err, errOther):
		r.Skip = NoArchive
	}
	if errors.Is(err, source.ErrChanged) {
		r.Skip = Changed
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
	file := a.files[a.i]
	res := &Resource{At: Position{File: file.name, Version: file.version, Position: r.At}, Source: file.name, URL: r.URL, Crawled: r.Date, Media: r.Media, Depth: -1, SHA1: digest(r.Header.Get("WARC-Payload-Digest"))}
	a.last, a.lastID = res, r.Header.Get("WARC-Record-ID")
	if _, is := a.blind(); is {
		a.why, a.ahead = "", said{}
		return res
	}
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
		return res // whose body may be called cut off, since there is none
	}
	if res.Cut = r.Header.Get("WARC-Truncated"); r.Header.Get("WARC-Segment-Number") != "" {
		res.Cut = "in segments"
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
