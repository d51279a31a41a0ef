package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"syscall"
	"time"

	"gleaner/internal/fetch"
)

const (
	// Piece is how much of a file is asked for in one turn of its host, and held.
	Piece = 8 << 20
	// largestWhole is the largest file that is taken from a server that gives no parts
	// of it: it is put on disk.
	largestWhole = 1 << 30
	// longestTag is how long ETag and Last-Modified may be together, in bytes, to be gone
	// by: they are kept of each file of a list.
	longestTag = 1 << 10
)

// web is one file of a web server, or those that a list there names. Their names are
// whole addresses. A file is asked for piece by piece, each in a turn of its host: no
// connection is kept while others work on what came.
type web struct {
	ask   Asker
	names []string
	known map[string]*webFile
	disk  *webFile // whose bytes are on disk; nil for none
	free  func(dir string) (int64, error)
}

// webFile is what is known of a file.
type webFile struct {
	File
	etag, modified string
	parts          bool
	whole          *os.File // nil where it is not on disk
}

func (w *web) Close() error {
	w.drop()
	return nil
}

func (w *web) drop() {
	if w.disk != nil {
		_ = w.disk.whole.Close()
		w.disk.whole, w.disk = nil, nil
	}
}

// List implements Place. Of a list's files no more is known than their addresses.
func (w *web) List(ctx context.Context, from string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for _, name := range w.names {
			if from != "" && name != from {
				continue
			}
			from = ""
			one := File{Name: name, Size: -1}
			if f := w.known[name]; f != nil {
				one = f.File
			}
			if err := context.Cause(ctx); err != nil || !yield(one, err) {
				return
			}
		}
	}
}

func (w *web) Stat(ctx context.Context, name string) (File, error) {
	f, err := w.file(ctx, name)
	if err != nil {
		return File{Name: name, Size: -1}, err
	}
	return f.File, nil
}

// file asks what is not known of a file yet. It asks twice: what the answers do not
// agree on tells nothing of the file, as an ETag that is another in each. One of which
// neither an ETag nor a time is left is read in one piece, since parts of two versions
// could not be told apart.
func (w *web) file(ctx context.Context, name string) (*webFile, error) {
	if f := w.known[name]; f != nil {
		return f, nil
	}
	f, err := w.head(ctx, name)
	for n := 0; err == nil && f.etag+f.modified != ""; n++ {
		var next *webFile
		if next, err = w.head(ctx, name); err != nil {
			break
		}
		last := *f
		if f = next; f.etag == last.etag && f.modified == last.modified {
			break
		}
		if n == again { // it was not changed between two of them: they never agree
			f.agree(last)
			break
		}
	}
	if err != nil {
		return nil, err
	}
	w.known[name] = f
	return f, nil
}

// agree takes away what another answer says otherwise.
func (f *webFile) agree(with webFile) {
	if f.etag != with.etag {
		f.etag = ""
	}
	if f.modified != with.modified {
		f.modified, f.Modified = "", time.Time{}
	}
	f.parts = f.parts && f.etag+f.modified != ""
	f.Version = cmp.Or(f.etag, version(f.Size, f.Modified))
}

// head asks for the first byte of a file, and so for what is said of it.
func (w *web) head(ctx context.Context, name string) (f *webFile, err error) {
	err = w.ask.Stream(ctx, fetch.StreamRequest{URL: name, Most: 1}, func(s *fetch.Streamed) error {
		f = describe(name, s)
		return nil
	})
	if e, ok := errors.AsType[*fetch.Error](err); ok && e.Outcome == fetch.EmptyBody {
		f, err = &webFile{File: File{Name: name}}, nil
	}
	if err != nil {
		return nil, typed(err)
	}
	return f, nil
}

// describe is what an answer says of its file.
func describe(name string, s *fetch.Streamed) *webFile {
	f := &webFile{File: File{Name: name, Size: s.Size}, etag: s.Header.Get("ETag"), modified: s.Header.Get("Last-Modified"), parts: s.Part}
	if len(f.etag)+len(f.modified) > longestTag {
		f.etag, f.modified = "", ""
	}
	if at, err := http.ParseTime(f.modified); err == nil {
		f.Modified = at
	}
	f.Version = cmp.Or(f.etag, version(f.Size, f.Modified))
	return f
}

// Open implements Place. Nothing is asked before the first byte is read.
func (w *web) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	f, err := w.file(ctx, name)
	if err != nil {
		return nil, err
	}
	if f.parts || f.Size == 0 {
		return &pieces{ctx: ctx, ask: w.ask, file: f, at: offset}, nil
	}
	if f.whole == nil {
		if err := w.download(ctx, f); err != nil {
			return nil, err
		}
	}
	return io.NopCloser(io.NewSectionReader(f.whole, offset, max(f.Size-offset, 0))), nil
}

// pieces reads a file in parts.
type pieces struct {
	ctx   context.Context
	ask   Asker
	file  *webFile
	at    int64 // of the next byte to be asked for
	held  []byte
	room  []byte
	tries int
}

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.held) == 0 {
		if p.at >= p.file.Size {
			return 0, io.EOF
		}
		if err := p.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.held)
	p.held = p.held[n:]
	return n, nil
}

// next asks for a piece. One that is cut off on its way is as good as it is long: the
// next one begins there.
func (p *pieces) next() error {
	if p.room == nil {
		p.room = make([]byte, min(Piece, p.file.Size-p.at))
	}
	most := min(int64(len(p.room)), p.file.Size-p.at)
	answered := false
	n := 0
	err := p.ask.Stream(p.ctx, fetch.StreamRequest{URL: p.file.Name, From: p.at, Most: most, ETag: p.file.etag, LastModified: p.file.modified}, func(s *fetch.Streamed) (err error) {
		if !s.Part || s.Size != p.file.Size {
			return ErrChanged
		}
		answered = true
		n, err = io.ReadFull(s.Body, p.room[:most])
		return err
	})
	p.held, p.at = p.room[:n], p.at+int64(n)
	if n > 0 {
		p.tries = 0
		return nil
	}
	err = typed(err)
	if !errors.Is(err, ErrAway) && !answered {
		return err
	}
	if p.tries++; p.tries <= again {
		return nil
	}
	if answered { // it says that there is more, and never gives it
		return fmt.Errorf("%w: %d of %d bytes", io.ErrUnexpectedEOF, p.at, p.file.Size)
	}
	return err
}

func (p *pieces) Close() error { return nil }

// room is how large a file may be that is put on disk: others need the disk, too.
func (w *web) room() int64 {
	free, err := w.free(os.TempDir())
	if err != nil {
		return largestWhole
	}
	return min(largestWhole, free/4)
}

// download puts a file on disk of which the server gives no parts.
func (w *web) download(ctx context.Context, f *webFile) error {
	w.drop()
	room := w.room()
	if f.Size > room {
		return tooLarge(f.Name, room)
	}
	to, err := os.CreateTemp("", "gleaner-import-")
	if err != nil {
		return err
	}
	_ = os.Remove(to.Name()) // it lasts as long as it is open
	var n int64
	for range again {
		n, err = w.copyTo(ctx, to, f, room)
		if !errors.Is(err, ErrAway) || errors.Is(err, errNoRoom) {
			break
		}
	}
	if err == nil && f.Size < 0 {
		f.Size = n
	}
	if err != nil {
		_ = to.Close()
		return err
	}
	f.whole, w.disk = to, f
	return nil
}

func (w *web) copyTo(ctx context.Context, to *os.File, f *webFile, room int64) (n int64, err error) {
	if _, err := to.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	if err := to.Truncate(0); err != nil {
		return 0, err
	}
	err = w.ask.Stream(ctx, fetch.StreamRequest{URL: f.Name, ETag: f.etag, LastModified: f.modified}, func(s *fetch.Streamed) (err error) {
		if n, err = io.Copy(to, io.LimitReader(s.Body, room+1)); n > room {
			return tooLarge(f.Name, room)
		}
		if errors.Is(err, syscall.ENOSPC) {
			return tooLarge(f.Name, n)
		}
		return err
	})
	return n, typed(err)
}

// errNoRoom waits for room on the disk.
var errNoRoom = fmt.Errorf("%w: there is too little room on the disk for it", ErrAway)

func tooLarge(name string, room int64) error {
	if room < largestWhole {
		return fmt.Errorf("%w: %s, of which its server gives no parts", errNoRoom, name)
	}
	return fmt.Errorf("%w: %s gives no parts of its files, or does not say of which version they are, and this one is larger than the %d bytes for which there is room: fetch it yourself, and import it from a folder", ErrRefused, name, room)
}

// openWeb opens an archive, or a list of archives.
func openWeb(ctx context.Context, ask Asker, where string) (Place, error) {
	w := &web{ask: ask, names: []string{where}, known: map[string]*webFile{}, free: FreeBytes}
	if err := w.look(ctx, where); err != nil {
		_ = w.Close()
		return nil, err
	}
	return w, nil
}
