package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"gleaner/internal/ingest/source"
)

// files is the log of folders in which every file is a resource: its URL is made of
// its path.
type files struct {
	watched
	places  source.Places
	disk    disk
	roots   []string
	address func(name string) string
	parent  string // template; "" where nobody says
	date    time.Time
	from    Position
	i       int // the root that is read
	place   source.Place
	next    func() (source.File, error, bool)
	stop    func()
	last    string // the name that was given last; "" for none
	done    int64  // bytes passed
	total   int64
	count   int64 // of files; 0 where they are elsewhere
}

// openFiles opens folders at a position.
func openFiles(ctx context.Context, places source.Places, o Options, from Position) (*files, error) {
	f := &files{places: places, disk: disk{o.Within}, parent: o.Parent, date: o.date(), from: from}
	f.address = func(name string) string { return expand(o.URLs, name) }
	if o.Format == Mirror {
		template := o.URLs
		template = cmp.Or(template, mirrorTemplate)
		f.address = func(name string) string { return mirrored(template, name) }
	}
	for _, root := range o.Paths {
		if slices.Contains(f.roots, root) { // who is named twice is read once
			continue
		}
		f.roots = append(f.roots, root)
		if source.Remote(root) {
			continue
		}
		info, err := f.disk.stat(root)
		if err == nil && !info.IsDir() && (o.Format == Mirror || !info.Mode().IsRegular()) {
			err = fmt.Errorf("%s is no folder", root)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInput, err)
		}
	}
	if from.File != "" {
		if f.i = slices.Index(f.roots, from.File); f.i < 0 {
			return nil, fmt.Errorf("%w: %s, where the import was, is not named any more", ErrInput, from.File)
		}
	}
	return f, f.measure(ctx)
}

// measure counts all files, and adds up their sizes.
func (f *files) measure(ctx context.Context) error {
	for i, root := range f.roots {
		if source.Remote(root) { // to list it twice would ask twice as much
			f.total, f.count = 0, 0
			return nil
		}
		place, err := f.disk.folder(root)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrInput, err)
		}
		for one, err := range place.List(ctx, "") {
			if err != nil {
				_ = place.Close()
				return err
			}
			f.total, f.count = f.total+one.Size, f.count+1
			if i < f.i || i == f.i && source.Before(one.Name, source.Unescape(f.from.Name)) {
				f.done += one.Size
			}
		}
		_ = place.Close()
	}
	return nil
}

func (f *files) Read() (done, total int64) {
	if f.total == 0 { // of what is elsewhere nobody has added it up
		return f.done, 0
	}
	return min(f.done, f.total), f.total
}

func (f *files) Extent() Extent { return Extent{Resources: f.count} }

func (f *files) Close() error {
	if f.place == nil {
		return nil
	}
	f.stop()
	err := f.place.Close()
	f.place = nil
	return err
}

func (f *files) Next(ctx context.Context) (*Resource, error) {
	for f.i < len(f.roots) {
		if why, is := f.passes(f.roots[f.i]); is {
			return f.rest(why)
		}
		if f.place == nil {
			if err := f.started(ctx, f.roots[f.i]); err != nil {
				return nil, err
			}
			place, err := f.openPlace(ctx, f.roots[f.i])
			if err != nil {
				return nil, err
			}
			f.place = place
			// The list lasts as long as the log does, and ends with this context's cause.
			f.next, f.stop = iter.Pull2(place.List(ctx, source.Unescape(f.from.Name)))
		}
		one, err, more := f.next()
		if err != nil {
			return nil, listed(err)
		}
		if more && f.from.Pass > 0 && one.Name == source.Unescape(f.from.Name) {
			continue // it was taken before; what comes behind it was not
		}
		if more {
			f.done, f.last = f.done+one.Size, one.Name
			return f.resource(ctx, one), nil
		}
		if err := f.end(); err != nil {
			return nil, err
		}
	}
	return nil, io.EOF
}

// end ends a folder.
func (f *files) end() error {
	err := f.Close()
	f.i, f.from, f.last = f.i+1, Position{}, ""
	return err
}

// rest stands for what is not listed of a folder: it ends there.
func (f *files) rest(why string) (*Resource, error) {
	root := f.roots[f.i]
	r := &Resource{At: f.from, Source: source.Shown(root), Skip: Damaged, Detail: why, Depth: -1}
	if f.last != "" {
		r.At = Position{Name: source.Escape(f.last), Pass: 1}
	}
	r.At.File = root
	return r, f.end()
}

// openPlace opens a folder, or what is elsewhere.
func (f *files) openPlace(ctx context.Context, where string) (place source.Place, err error) {
	if source.Remote(where) {
		return openRemote(ctx, f.places, where, true)
	}
	if place, err = f.disk.folder(where); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return place, nil
}

func (f *files) resource(ctx context.Context, one source.File) *Resource {
	f.why = "" // nothing of it is read before it is taken
	root := f.roots[f.i]
	r := &Resource{
		At:      Position{File: root, Name: source.Escape(one.Name)},
		Source:  strings.TrimSuffix(source.Shown(root), "/") + "/" + one.Name,
		URL:     f.address(one.Name),
		Depth:   -1,
		Crawled: one.Modified,
	}
	if folder, is := f.place.(*source.Folder); is && folder.Only != "" {
		r.Source = root
	}
	if f.parent != "" {
		r.Parent = expand(f.parent, one.Name)
	}
	if !f.date.IsZero() {
		r.Crawled = f.date
	}
	if r.URL == "" {
		r.URL, r.Skip = one.Name, NoWeb
		return r
	}
	place := f.place
	r.offer(one.Err, func() (io.ReadCloser, error) { return place.Open(ctx, one.Name, 0) })
	return r
}

// offer says how a resource's file is opened, or why it is not.
func (r *Resource) offer(err error, open func() (io.ReadCloser, error)) {
	switch {
	case errors.Is(err, source.ErrOutside):
		r.Skip, r.Detail = Outside, err.Error()
	case errors.Is(err, source.ErrNoFile):
		r.Skip, r.Detail = NoFile, err.Error()
	case err != nil:
		r.Open = func() (io.ReadCloser, error) { return nil, err }
	default:
		r.Open = open
	}
}
