package source

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"time"
)

// Bounds of what a server lists: one that never ends, or invents folders below
// folders, ends here.
const (
	listingBytes = 64 << 20 // of one folder, as they come
	deepest      = 64       // folders below each other
	mostFolders  = 1_000_000
)

// serverIdle is how long a connection may stand still over what was asked for.
const serverIdle = time.Minute

// missing is why a root cannot be had, where it is not only away.
func missing(root string, err error) error {
	if errors.Is(err, ErrAway) || errors.Is(err, ErrRefused) {
		return err
	}
	return fmt.Errorf("%s: %w", root, err)
}

// unanswered is an error of a connection to a server of files, of which the polite
// client may know more.
func unanswered(host string, err error) error {
	if known := typed(err); errors.Is(known, ErrRefused) || errors.Is(known, ErrAway) {
		return known
	}
	return away(fmt.Errorf("%s: %w", host, err))
}

// entry is what a server lists of a file or a folder; Name is its last part alone.
type entry struct {
	File
	folder bool
}

// tree lists the files below a folder of a server, folder by folder, each in the order
// of names.
type tree struct {
	list    func(ctx context.Context, dir string) ([]entry, error) // dir is below the root; "" is that
	from    string
	yield   func(File, error) bool
	folders int
}

// allBelow gives the files of a tree from a name on.
func allBelow(ctx context.Context, list func(ctx context.Context, dir string) ([]entry, error), from string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		t := &tree{list: list, from: from, yield: yield}
		t.walk(ctx, "", 0)
	}
}

// alone gives the one file that a place is.
func alone(ctx context.Context, p Place) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) { yield(p.Stat(ctx, "")) }
}

// walk reports whether the walk is to go on.
func (t *tree) walk(ctx context.Context, dir string, depth int) bool {
	if t.folders++; t.folders > mostFolders {
		t.yield(File{}, fmt.Errorf("%w: more than %d folders", ErrEndless, mostFolders))
		return false
	}
	if err := context.Cause(ctx); err != nil {
		t.yield(File{}, err)
		return false
	}
	entries, err := t.list(ctx, dir)
	if err != nil {
		t.yield(File{}, err)
		return false
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	entries = slices.CompactFunc(entries, func(a, b entry) bool { return a.Name == b.Name })
	for _, e := range entries {
		if e.Name == "." || e.Name == ".." || e.Name == "" {
			continue
		}
		bad := strings.ContainsAny(e.Name, "/\x00\r\n")
		e.Name = path.Join(dir, strings.ReplaceAll(e.Name, "/", "\uFFFD"))
		if Before(e.Name, t.from) && !strings.HasPrefix(t.from, e.Name+"/") {
			continue
		}
		switch {
		case bad:
			e.File = File{Name: e.Name, Err: fmt.Errorf("%w: no name of a file", ErrOutside)}
		case e.folder && depth < deepest:
			if !t.walk(ctx, e.Name, depth+1) {
				return false
			}
			continue
		case e.folder:
			e.File = File{Name: e.Name, Err: fmt.Errorf("%w: it is below %d folders", ErrNoFile, deepest)}
		}
		if Before(e.Name, t.from) {
			continue
		}
		if !t.yield(e.File, nil) {
			return false
		}
	}
	return true
}
