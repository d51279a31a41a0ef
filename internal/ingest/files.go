package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"gleaner/internal/ingest/source"
)

// files is the log of folders in which every file is a resource: its URL is made of
// its path.
type files struct {
	places  source.Places
	roots   []string
	address func(name string) string
	parent  string // template; "" where nobody says
	date    time.Time
	from    Position
	i       int // the root that is read
	place   source.Place
	next    func() (source.File, error, bool)
	stop    func()
	done    int64 // bytes passed
	total   int64
	count   int64 // of files; 0 where they are elsewhere
}

// openFiles opens folders at a position.
func openFiles(ctx context.Context, places source.Places, o Options, from Position) (*files, error) {
	f := &files{places: places, roots: o.Paths, parent: o.Parent, date: o.date(), from: from}
	f.address = func(name string) string { return expand(o.URLs, name) }
	if o.Format == Mirror {
		template := o.URLs
		if template == "" {
			template = mirrorTemplate
		}
		f.address = func(name string) string { return mirrored(template, name) }
	}
	for _, root := range o.Paths {
		if source.Remote(root) {
			continue
		}
		info, err := os.Stat(root)
		if err == nil && !info.IsDir() {
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
		place, err := source.OpenFolder(root)
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

// Read implements Log.
func (f *files) Read() (done, total int64) {
	if f.total == 0 { // of what is elsewhere nobody has added it up
		return f.done, 0
	}
	return min(f.done, f.total), f.total
}

// Extent implements Log.
func (f *files) Extent() Extent { return Extent{Resources: f.count} }

// Close implements Log.
func (f *files) Close() error {
	if f.place == nil {
		return nil
	}
	f.stop()
	err := f.place.Close()
	f.place = nil
	return err
}

// Next implements Log.
func (f *files) Next(ctx context.Context) (*Resource, error) {
	for f.i < len(f.roots) {
		if f.place == nil {
			place, err := openPlace(ctx, f.places, f.roots[f.i])
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
		if more {
			f.done += one.Size
			return f.resource(ctx, one), nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
		f.i, f.from = f.i+1, Position{}
	}
	return nil, io.EOF
}

// openPlace opens a folder, or what is elsewhere.
func openPlace(ctx context.Context, places source.Places, where string) (place source.Place, err error) {
	if source.Remote(where) {
		return openRemote(ctx, places, where, true)
	}
	if place, err = source.OpenFolder(where); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return place, nil
}

func (f *files) resource(ctx context.Context, one source.File) *Resource {
	r := &Resource{At: Position{File: f.roots[f.i], Name: source.Escape(one.Name)}, Source: strings.TrimSuffix(source.Shown(f.roots[f.i]), "/") + "/" + one.Name, URL: f.address(one.Name), Depth: -1, Crawled: one.Modified}
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
