package ingest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/ingest/source"
)

// httrackLog is what HTTrack writes of each file, in the folder of a mirror.
var httrackLog = filepath.Join("hts-cache", "new.txt")

// openMirrors opens mirrors: by HTTrack's own log where it is there, else file by file.
func openMirrors(ctx context.Context, places source.Places, o Options, from Position) (Log, error) {
	logged, disk := 0, disk{o.Within}
	logged += each.Count(o.Paths, func(p string) bool { return disk.firstThere(filepath.Join(p, httrackLog)) != "" })
	switch {
	case logged == 0 || o.URLs != "":
		return opened(openFiles(ctx, places, o, from))
	case logged < len(o.Paths):
		return nil, fmt.Errorf("%w: some of these mirrors have HTTrack's %s and some have not: import them apart", ErrInput, httrackLog)
	}
	return opened(openLists(disk, o.Paths, from, func(path string, _ os.FileInfo) ([]list, error) {
		return []list{{filepath.Join(path, httrackLog), path, httrack{path}}}, nil
	}))
}

// httrack understands the lines of HTTrack's new.txt, with tabs between: the time of
// day, the size, flags, the status, a word on it, the MIME type, a tag, the URL, the
// file, and the page that led there.
type httrack struct{ folder string }

func (httrack) header() bool       { return true }
func (httrack) begin(string) error { return nil }
func (httrack) whole([]byte) bool  { return true }

func (h httrack) parse(line []byte) (*Resource, []string, error) {
	f := strings.Split(strings.TrimRight(string(line), "\r\n"), "\t")
	if len(f) == 1 && f[0] == "" {
		return nil, nil, nil
	}
	if len(f) < 9 {
		return nil, nil, fmt.Errorf("%d fields, and a line of HTTrack has at least 9", len(f))
	}
	status, err := statusIn(f[3])
	if err != nil {
		return nil, nil, err
	}
	r := &Resource{URL: withScheme(f[7]), Media: f[5], Depth: -1}
	r.Header = http.Header{"Content-Type": {r.Media}}
	if len(f) > 9 {
		if from := strings.TrimSuffix(strings.TrimPrefix(f[9], "(from "), ")"); strings.Contains(from, ".") {
			r.Parent = withScheme(from)
		} else {
			r.Seed, r.Depth = from == "primary/primary", -1
		}
	}
	if status != http.StatusOK && status != http.StatusNotModified {
		r.Skip = statusOf(status)
		return r, nil, nil
	}
	return r, h.names(f[8]), nil
}

// statusIn reads the status of an answer.
func statusIn(s string) (int, error) {
	status, err := strconv.Atoi(s)
	if err != nil || status > 999 {
		return 0, fmt.Errorf("%.20q is no status", s)
	}
	return status, nil
}

func withScheme(u string) string {
	if strings.Contains(u, "://") {
		return u
	}
	return "http://" + u
}

// names are the paths below the mirror under which a file may lie: the log has the
// path of the machine that HTTrack ran on.
func (h httrack) names(file string) (names []string) {
	plain, err := url.PathUnescape(file)
	if err != nil {
		plain = file
	}
	for _, p := range []string{file, plain} {
		if filepath.IsAbs(p) {
			if rel, err := filepath.Rel(h.folder, p); err == nil && filepath.IsLocal(rel) {
				names = append(names, filepath.ToSlash(rel))
				continue
			}
			_, after, found := strings.Cut(p, "/"+filepath.Base(h.folder)+"/")
			if found {
				names = append(names, after)
			}
			continue
		}
		names = append(names, below(h.folder, p))
	}
	return names
}
