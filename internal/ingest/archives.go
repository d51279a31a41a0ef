package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

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
	get     func(f stored, offset int64) (io.ReadCloser, error)
	measure func(f *stored) error
	where   source.Places
	disk    disk
	places  []source.Place // that are open
	in      *archive.Reader
	log     *beside          // nil where there is none
	record  archive.Position // at which one was read last
	last    *Resource        // whose parent may be named yet
	lastID  string
	pending map[string]provenance // of resources that are not read yet, by URL
	between error
	lost    error        // of reading the file itself
	gaps    bool         // something of the file was passed over
	taken   bool         // the record at from was passed, since it had been taken
	over    func() error // why reading is to stop; nil where it is not
	room    float64      // for resources that may come yet, by the bytes read, beside freeResources
	links   float64      // of pages to files that may be put on record yet, by the bytes read
	unpacks atomic.Int64 // bytes that payloads may unpack to yet, by the bytes read
	begun   func(f stored) error
	vain    map[string]int // archives in a row of a host that a list of another named, and were not opened
	unread  int            // archives that were not opened
	zip     *zipped        // the WACZ file that was opened last
}

// openArchives opens archive files, or folders of them, at a position.
func openArchives(ctx context.Context, places source.Places, o Options, from Position) (a *archives, err error) {
	a = &archives{from: from, where: places, disk: disk{o.Within}, links: freeResources, vain: map[string]int{}}
	a.unpacks.Store(freeUnpacked)
	defer func() {
		if err != nil {
			_ = a.Close()
		}
	}()
	if o.Format != Auto {
		a.only = o.Format
	}
	if a.files, err = a.find(ctx, o.Paths); err != nil {
		return a, err
	}
	if from.File != "" {
		at := strings.LastIndex(from.File, withinWACZ)
		name, within := from.File[:max(at, 0)], at >= 0
		if i := slices.IndexFunc(a.files, func(f stored) bool { return f.name == name && f.isWACZ() }); within && i >= 0 {
			a.using(ctx)
			if err := a.unzip(i); err != nil {
				return a, err
			}
		}
		if a.i = slices.IndexFunc(a.files, func(f stored) bool { return f.name == from.File }); a.i < 0 {
			return a, fmt.Errorf("%w: %s, where the import was, is not there any more", ErrInput, from.File)
		}
	}
	for _, f := range a.files[:a.i] {
		a.before += max(f.size, 0)
	}
	return a, nil
}

func (a *archives) Read() (done, total int64) {
	for _, f := range a.files {
		if total += f.size; f.size < 0 {
			return a.before + a.read, 0
		}
	}
	return a.before + a.read, total
}

func (a *archives) Extent() Extent {
	all := int64(len(a.files))
	return Extent{Archives: all, Archive: min(int64(a.i)+1, all)}
}

func (a *archives) Close() error {
	a.shut()
	a.zip.close()
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
	a.log.close()
	a.in, a.log = nil, nil
}

func (a *archives) Next(ctx context.Context) (*Resource, error) {
	a.using(ctx)
	a.begun = func(f stored) error { return a.started(ctx, f.name) }
	for a.i < len(a.files) {
		r, err := a.next()
		if over := a.over(); over != nil {
			return nil, over // and nothing is wrong with the file
		}
		switch {
		case err == io.EOF:
			if r := a.emptyFile(); r != nil {
				return r, nil
			}
			a.endFile()
			continue
		case err != nil:
			return nil, err
		}
		if r != nil {
			a.room--
			return r, nil
		}
		if a.late && a.record != a.from.Position {
			r := a.placeholder(a.record, nothingYet, "")
			r.At.Pass = 1
			return r, nil
		}
	}
	return nil, io.EOF
}

// emptyFile returns a placeholder if the file was read to its end and had no resource, and
// otherwise nil.
func (a *archives) emptyFile() *Resource {
	if a.between != nil || a.last != nil || a.gaps || a.from.Position != (archive.Position{}) || a.from.Pass > 0 {
		return nil
	}
	a.between = io.EOF
	return a.placeholder(archive.Position{}, NoResource, "")
}

// placeholder is a resource without a payload: it records what is wrong with the current file.
func (a *archives) placeholder(at archive.Position, skip, detail string) *Resource {
	file := a.files[a.i]
	where := Position{File: file.name, Version: file.version, Position: at}
	return &Resource{At: where, Source: file.name, Skip: skip, Detail: detail, Depth: -1}
}

func (a *archives) endFile() {
	a.shut()
	size := a.files[a.i].size
	a.files[a.i] = stored{size: size} // the rest may be much: a WACZ file's directory
	a.before, a.read = a.before+max(size, 0), 0
	a.i, a.from, a.taken, a.last, a.pending, a.between = a.i+1, Position{}, false, nil, nil, nil
	a.lost, a.gaps, a.room = nil, false, max(a.room, 0)
	a.unpacks.Add(min(freeUnpacked-a.unpacks.Load(), 0))
}

// next reads a record; nil is one that is no resource.
func (a *archives) next() (*Resource, error) {
	if a.between != nil {
		return nil, a.between
	}
	if why, is := a.passes(a.files[a.i].name); is {
		return a.rest(why), nil
	}
	if a.room < -a.files[a.i].free() {
		return a.rest("more resources than its bytes can hold"), nil
	}
	if a.in == nil {
		if a.vain[a.files[a.i].foreign] >= mostInVain {
			a.between = io.EOF
			return nil, io.EOF
		}
		if err := a.begun(a.files[a.i]); err != nil {
			return nil, err
		}
		if a.files[a.i].isWACZ() {
			if err := a.unzip(a.i); err != nil {
				return a.broken(err)
			}
		}
		if err := a.begin(); err != nil {
			return a.broken(err)
		}
	}
	r, err := a.in.Next()
	if d, ok := errors.AsType[*archive.Damage](err); ok && a.lost == nil {
		return a.gap(d), nil
	}
	if err != nil {
		return a.broken(err)
	}
	a.record = r.At
	if a.from.Pass > 0 && !a.taken {
		a.taken = true
		return nil, nil // the record was taken before; what comes behind it was not
	}
	return a.resource(r), nil
}

// rest stands for what is not read of a file: it ends there.
func (a *archives) rest(why string) *Resource {
	a.between = io.EOF
	r := a.placeholder(archive.Position{}, Damaged, why)
	if r.At = a.from; a.last != nil {
		r.At = a.last.At
		r.At.Pass = 1
	}
	r.At.File = r.Source
	return r
}

func (a *archives) begin() (err error) {
	if err := a.measure(&a.files[a.i]); err != nil {
		return err
	}
	file, at := a.files[a.i], a.from.Position
	if file.place == nil {
		a.log = openBeside(file.disk, file.path)
	}
	if a.from.Version != "" && file.version != "" && a.from.Version != file.version {
		return source.ErrChanged
	}
	if at != (archive.Position{}) && file.size <= at.Offset { // there was a record
		return &archive.Damage{At: at, Err: io.ErrUnexpectedEOF}
	}
	a.read = at.Offset
	if a.in, err = archive.New(a.source(file), at); err != nil {
		return err
	}
	delete(a.vain, file.foreign)
	if kind := a.in.Kind(); a.only != "" && kind != "" && !strings.EqualFold(kind, a.only) {
		return fmt.Errorf("%w: %s, and --format is %s", errOther, kind, a.only)
	}
	return nil
}

// errOther is an archive of another format than the one that was named.
var errOther = errors.New("an archive of another format")

// gap stands for what cannot be read of a file, which is read on behind it.
func (a *archives) gap(d *archive.Damage) *Resource {
	a.gaps = true
	r := a.placeholder(d.At, Damaged, d.Error())
	if d.Within {
		r.At.Pass = 1
	}
	return r
}

// broken makes what cannot be read of a file a resource that says so; the file
// ends there.
func (a *archives) broken(err error) (*Resource, error) {
	refused := errors.Is(err, source.ErrRefused) && !source.Web(a.files[a.i].name) // by the server, and not one file of it
	if err == io.EOF || errors.Is(err, source.ErrAway) || refused {
		return nil, err
	}
	a.between = io.EOF
	r := a.placeholder(archive.Position{}, Damaged, err.Error())
	if a.in == nil && a.from.File != "" {
		r.At = a.from // it was not even opened where reading was to go on
	}
	var d *archive.Damage
	switch {
	case errors.As(err, &d):
		if r.At.Position = d.At; d.Within {
			r.At.Pass = 1
		}
	case errors.Is(err, archive.ErrNoArchive), errors.Is(err, errOther), errors.Is(err, errNoWACZ):
		r.Skip = NoArchive
	}
	switch {
	case errors.Is(err, source.ErrChanged):
		r.Skip = Changed
	case errors.Is(err, source.ErrOutside):
		r.Skip = Outside
	case errors.Is(err, fs.ErrPermission):
		r.Skip = Unreadable
	}
	if a.in != nil || !source.Web(a.files[a.i].name) {
		return r, nil
	}
	return a.unopened(r)
}

// resource is what a record says that a crawler got; nil where it is about
// something else.
func (a *archives) resource(r *archive.Record) *Resource {
	switch r.Type {
	case archive.Metadata, archive.Request:
		a.addProvenance(r)
		return nil
	case archive.Response, archive.Resource, archive.Revisit, archive.Conversion, archive.Continuation:
	default:
		return nil
	}
	scheme, rest, _ := strings.Cut(r.URL, ":")
	if scheme = strings.ToLower(scheme); scheme == "filedesc" { // an ARC file that was joined to another
		return nil
	}
	file := a.files[a.i]
	res := &Resource{
		At: Position{File: file.name, Version: file.version, Position: r.At}, Source: file.name,
		URL: r.URL, Crawled: r.Date, Media: r.Media, Depth: -1,
	}
	a.last, a.lastID = res, r.Header.Get("WARC-Record-ID")
	if _, is := a.skipsNext(); is {
		a.why = ""
		return res
	}
	a.log.annotate(res, a.over)
	if s, is := a.pending[r.URL]; is {
		res.setProvenance(s)
		delete(a.pending, r.URL)
	}
	switch {
	case scheme == "dns", scheme == "whois":
		res.Skip = scheme
	case r.Type == archive.Continuation:
		res.Skip = InSegments
	case r.Type == archive.Revisit:
		res.revisit(r)
	default:
		if scheme == "ftp" {
			res.URL = served(rest)
		}
		a.answer(res, r)
	}
	if res.Crawled.IsZero() && res.Skip == "" {
		res.Crawled = file.modified
	}
	return res
}

// revisit takes what a record says of the earlier answer. Its body may be called cut off,
// since there is none.
func (r *Resource) revisit(of *archive.Record) {
	r.Again = true
	r.SameAs = strings.Trim(of.Header.Get("WARC-Refers-To-Target-URI"), "<>")
	r.SameOn = archive.Date(of.Header.Get("WARC-Refers-To-Date"))
	if !strings.HasSuffix(of.Header.Get("WARC-Profile"), "/server-not-modified") { // its digest is of no body
		r.SHA1 = archive.SHA1(of.Header.Get("WARC-Payload-Digest"))
	}
}

// answer takes what a crawler got out of a record.
func (a *archives) answer(res *Resource, r *archive.Record) {
	if res.Cut = r.Header.Get("WARC-Truncated"); r.Header.Get("WARC-Segment-Number") != "" {
		res.Cut = InSegments
	}
	p, err := r.Payload()
	if err != nil {
		res.Skip, res.Detail = NoAnswer, err.Error()
		return
	}
	res.Media, res.Header, res.Note = p.Media, p.Header, p.Note
	if res.Crawled.IsZero() {
		res.Crawled, _ = http.ParseTime(p.Header.Get("Date"))
	}
	whole := p.Status == http.StatusPartialContent && wholeRange(p.Header.Get("Content-Range"))
	if p.Status != 0 && p.Status != http.StatusOK && p.Status != http.StatusNonAuthoritativeInfo && !whole {
		res.Skip = "status " + strconv.Itoa(p.Status)
		p.Close()
		return
	}
	res.Open = func() (io.ReadCloser, error) { return payload{p, &a.unpacks}, nil }
}
