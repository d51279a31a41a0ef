package ingest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"gleaner/internal/ingest/source"
)

// Bounds of what a list says of one resource.
const (
	maxLine  = 1 << 20 // bytes, of all its lines together
	maxLines = 100
)

// lists is the log of text files that name a resource a line, and where its file is:
// manifests, and logs of crawlers that keep mirrors.
type lists struct {
	watched
	all    []list
	sizes  []int64
	from   Position
	disk   disk
	i      int   // the list that is read
	before int64 // bytes of the lists before
	total  int64

	file   *os.File
	place  source.Place              // where its files lie
	met    map[source.File]*fileRead // there
	in     *bufio.Reader
	parser parser
	at     int64 // where the next line begins
	line   int64 // lines read
	behind int64 // where the first line of the last resource ended
	bad    int   // lines that said nothing
}

// list is one text file, and the folder that its paths are below.
type list struct {
	file, folder string
	parser       parser
}

// parser understands the lines of one list.
type parser interface {
	// begin reads what stands before the first resource; nothing where there is nothing.
	begin(line string) error
	// header reports whether a list begins with a line for begin.
	header() bool
	// whole reports whether lines are all that is said of a resource, and not its begin.
	whole(lines []byte) bool
	// parse says what lines say, and under which paths its file may be; nil is a line
	// about nothing.
	parse(lines []byte) (r *Resource, names []string, err error)
}

// openLists opens lists at a position. find tells what a path that was named holds.
func openLists(d disk, paths []string, from Position, find func(path string, info os.FileInfo) ([]list, error)) (*lists, error) {
	l := &lists{from: from, disk: d}
	for _, p := range paths {
		info, err := d.stat(p)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInput, err)
		}
		found, err := find(p, info)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInput, err)
		}
		for _, one := range found {
			if !slices.ContainsFunc(l.all, func(known list) bool { return known.file == one.file }) { // who is named twice is read once
				l.all = append(l.all, one)
			}
		}
	}
	for _, one := range l.all {
		info, err := d.stat(one.file)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is no file", one.file)
		}
		if err == nil {
			err = d.noArchive(one.file)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInput, err)
		}
		l.sizes, l.total = append(l.sizes, info.Size()), l.total+info.Size()
	}
	if from.File != "" {
		if l.i = slices.IndexFunc(l.all, func(one list) bool { return one.file == from.File }); l.i < 0 {
			return nil, fmt.Errorf("%w: %s, where the import was, is not there any more", ErrInput, from.File)
		}
	}
	for _, size := range l.sizes[:l.i] {
		l.before += size
	}
	return l, nil
}

// noArchive is an error where a list is an archive or packed, of which each line would be
// a bad one.
func (d disk) noArchive(file string) error {
	f, err := d.open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 5)
	n, _ := io.ReadFull(f, head)
	gzip, zstd := []byte{0x1f, 0x8b}, []byte{0x28, 0xb5, 0x2f, 0xfd}
	head = head[:n]
	if bytes.EqualFold(head, []byte("WARC/")) || bytes.HasPrefix(head, gzip) || bytes.HasPrefix(head, zstd) {
		return fmt.Errorf("%s is an archive or packed, and no list", file)
	}
	return nil
}

func (l *lists) Read() (done, total int64) { return min(l.before+l.at, l.total), l.total }

// Extent implements Log: how many resources lines name, only reading them tells.
func (l *lists) Extent() Extent { return Extent{} }

func (l *lists) Close() error {
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.file.Close(), l.place.Close())
	l.file, l.place, l.met, l.at = nil, nil, nil, 0
	return err
}

func (l *lists) Next(ctx context.Context) (*Resource, error) {
	for l.i < len(l.all) {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if why, is := l.passes(l.all[l.i].file); is {
			return l.rest(why)
		}
		if l.file == nil {
			if err := l.started(ctx, l.all[l.i].file); err != nil {
				return nil, err
			}
			if err := l.begin(ctx); err != nil {
				return nil, err
			}
		}
		r, err := l.next(ctx)
		if err == nil && r == nil {
			if l.came(); !l.late {
				continue
			}
			r = &Resource{At: Position{File: l.all[l.i].file, Line: l.line + 1}, Skip: nothingYet}
			r.At.Offset = l.at
		}
		if !errors.Is(err, io.EOF) {
			return r, err
		}
		if err := l.end(); err != nil {
			return nil, err
		}
	}
	return nil, io.EOF
}

// end ends a list.
func (l *lists) end() error {
	err := l.Close()
	l.before += l.sizes[l.i]
	l.i, l.from = l.i+1, Position{}
	return err
}

// rest stands for what is not read of a list: it ends there.
func (l *lists) rest(why string) (*Resource, error) {
	one := l.all[l.i]
	r := &Resource{At: l.from, Source: one.file, Skip: Damaged, Detail: why, Depth: -1}
	if l.file != nil {
		r.At = Position{Line: l.line + 1}
		r.At.Offset = l.at
	}
	r.At.File = one.file
	return r, l.end()
}

// begin opens a list, reads its header, and goes to where reading is to begin.
func (l *lists) begin(ctx context.Context) (err error) {
	one := l.all[l.i]
	place, err := l.disk.folder(one.folder)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	if l.file, err = l.disk.open(one.file); err != nil {
		_ = place.Close()
		return setting(err)
	}
	l.place, l.parser, l.in, l.at, l.line = place, one.parser, bufio.NewReaderSize(l.file, 64<<10), 0, 0
	if l.parser.header() {
		head, err := l.lines(ctx)
		if err == nil || errors.Is(err, io.EOF) {
			err = l.parser.begin(string(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))))
		}
		if over := context.Cause(ctx); over != nil {
			return over // and nothing is wrong with the list
		}
		if err != nil {
			_ = l.Close()
			return fmt.Errorf("%w: %s: line 1: %w", ErrInput, one.file, err)
		}
	}
	if l.from.Line == 0 {
		return nil
	}
	if _, err = l.file.Seek(l.from.Offset, io.SeekStart); err == nil {
		l.in.Reset(l.file)
		l.at, l.line = l.from.Offset, l.from.Line-1
	}
	return err
}

// errLong is what is more than one resource can have to say.
var errLong = fmt.Errorf("more than %d bytes or %d lines", maxLine, maxLines)

// lines reads the lines of one resource.
func (l *lists) lines(ctx context.Context) (all []byte, err error) {
	for n := 0; ; n++ {
		line, err := l.one(ctx)
		if n == 0 {
			l.behind = l.at
		}
		if all = append(all, line...); errors.Is(err, io.EOF) && len(all) > 0 {
			return all, nil
		}
		if err != nil || l.parser.whole(all) {
			return all, err
		}
		if n == maxLines || len(all) > maxLine {
			return nil, errLong
		}
	}
}

// one reads a line. Of one without an end the rest is passed over.
func (l *lists) one(ctx context.Context) (line []byte, err error) {
	l.line++
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		l.at += int64(len(part))
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch over := context.Cause(ctx); {
		case over != nil:
			return nil, over
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !long):
			return nil, err
		case long:
			return nil, errLong
		}
		return line, nil
	}
}

// next reads one resource; nil is a line that is about none.
func (l *lists) next(ctx context.Context) (*Resource, error) {
	one := l.all[l.i]
	at := Position{File: one.file, Line: l.line + 1}
	at.Offset = l.at
	lines, err := l.lines(ctx)
	if err != nil && !errors.Is(err, errLong) {
		return nil, err
	}
	var r *Resource
	var names []string
	if why, is := l.skipsNext(); is {
		l.why = ""
		r, err = &Resource{Skip: Damaged, Detail: fmt.Sprintf("line %d: %s", at.Line, why), Depth: -1}, nil
	} else if err == nil {
		r, names, err = l.parser.parse(lines)
	}
	if err != nil {
		r = &Resource{Skip: BadLine, Detail: fmt.Sprintf("line %d: %v", at.Line, err), Depth: -1}
		if l.bad++; l.bad == freeResources {
			r.Detail += "; bad lines behind it are passed over without a record"
		}
		if err := l.back(at.Line); err != nil {
			return nil, err
		}
	}
	if r == nil || r.Skip == BadLine && l.bad > freeResources {
		return nil, nil
	}
	r.At, r.Source, r.Line = at, one.file, len(lines)
	if r.Skip == "" {
		l.locate(ctx, r, names)
	}
	return r, nil
}

// back goes behind a line that says nothing: those that were taken for more of it may
// be whole.
func (l *lists) back(line int64) error {
	if l.line == line {
		return nil
	}
	if _, err := l.file.Seek(l.behind, io.SeekStart); err != nil {
		return err
	}
	l.in.Reset(l.file)
	l.at, l.line = l.behind, line
	return nil
}

// locate finds the file of a resource among the names that it may have.
func (l *lists) locate(ctx context.Context, r *Resource, names []string) {
	for _, name := range names {
		one, err := l.place.Stat(ctx, name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if r.Crawled.IsZero() {
			r.Crawled = one.Modified
		}
		if err == nil {
			l.repeats(r, one)
		}
		place := l.place
		r.offer(err, func() (io.ReadCloser, error) { return place.Open(ctx, name, 0) })
		return
	}
	r.offer(fmt.Errorf("line %d: %w", r.At.Line, os.ErrNotExist), nil)
}

// repeats has a resource whose file a line before named be as it was before: a few bytes of a list may
// name a large file again and again.
func (l *lists) repeats(r *Resource, one source.File) {
	if len(l.met) >= keptLinks || l.met == nil {
		l.met = map[source.File]*fileRead{}
	}
	if r.File = l.met[one]; r.File == nil {
		r.File = &fileRead{}
		l.met[one] = r.File
	}
	if !r.File.read {
		return
	}
	if sum := r.File.sha1[:]; r.SHA1 != nil && r.File.sha1 != [sha1.Size]byte{} && !bytes.Equal(sum, r.SHA1) {
		r.Note = notPromised
	}
	r.Again, r.SHA1 = true, r.File.sha1[:]
}

// fileRead is what was read of a file that a list names.
type fileRead struct {
	read bool
	sha1 [sha1.Size]byte // zero where not all of it was read
	as   verdict         // unless it is on record; zero where it should be
}

// below is a path as one below a folder, where it is: lists may have absolute ones.
func below(folder, name string) string {
	if !filepath.IsAbs(name) {
		return filepath.ToSlash(filepath.Clean(name))
	}
	if rel, err := filepath.Rel(folder, name); err == nil {
		return filepath.ToSlash(rel)
	}
	return name
}
