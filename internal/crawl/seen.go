package crawl

import (
	"context"
	"hash/maphash"
	"strings"

	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// seenSet remembers at what depth and in what role a site's URLs are known, so
// that a link in every page's menu is not written once a page; and how much is
// known of each directory. It is bounded: a slice begins with at most half of what
// it may hold, so that those it meets have a place: the ones nearest to a homepage,
// which most pages link to. Of a site with more the record is asked what it knows
// of each page's links.
type seenSet struct {
	best    map[frontier.Hash]int32 // depth and role
	dirs    map[uint64]int32        // pages, by directory
	seed    maphash.Seed
	limit   int                     // of best
	met     int                     // URLs of which the record told
	partial bool                    // the record knows more URLs
	since   map[frontier.Hash]int32 // what has no place in best, until the record is written and can be asked
	skipped int                     // URLs that a limit kept out
	urls    int                     // all others

	// contents has the directories in which a page of some content was read in
	// this crawl and its links followed.
	contents map[uint64][]string
}

// sameContent bounds the directories kept of one content.
const sameContent = 8

func newSeen(limit int) *seenSet {
	return &seenSet{limit: limit, best: map[frontier.Hash]int32{}, since: map[frontier.Hash]int32{}, dirs: map[uint64]int32{}, contents: map[uint64][]string{}, seed: maphash.MakeSeed()}
}

// meet enters what the record knows of a URL. It is told of them all when a slice
// begins, the nearest to a homepage first.
func (s *seenSet) meet(k *frontier.Known) {
	if s.met++; s.met <= s.limit/2 {
		s.addContent(k.URL, k.Content)
		s.add(k.Hash, k.Depth, k.Role)
	}
	s.partial = s.met > s.limit/2
	if k.State == frontier.Skipped {
		s.skipped++
		return
	}
	s.urls++
	if !weburl.IsDocumentName(k.URL) {
		s.enterDir(k.URL)
	}
}

// learn asks the record what it knows of some links, where it knows more than
// the set.
func (s *seenSet) learn(ctx context.Context, record Recorder, links []page.Link) error {
	var unknown [][]byte
	for i := range links {
		h := frontier.HashOf(links[i].URL)
		if _, met := s.known(h, 0, 0); s.partial && !met {
			unknown = append(unknown, h[:])
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	known, err := record.LookUp(ctx, unknown)
	for _, k := range known {
		s.add(k.Hash, k.Depth, k.Role)
	}
	return err
}

// known reports whether a URL was met, and whether in this role or a wider one
// at this depth or a lesser one.
func (s *seenSet) known(h frontier.Hash, depth int, role frontier.Role) (asGood, met bool) {
	b, met := s.best[h]
	if !met {
		b, met = s.since[h]
	}
	return met && int(b>>2) <= depth && frontier.Role(b&3) <= role, met
}

func (s *seenSet) add(h frontier.Hash, depth int, role frontier.Role) {
	in := s.best
	b, ok := in[h]
	if !ok && len(s.best) >= s.limit {
		s.partial, in = true, s.since
		b, ok = in[h]
	}
	depth = min(depth, 1<<16)
	if ok {
		depth, role = min(depth, int(b>>2)), min(role, frontier.Role(b&3))
	}
	in[h] = int32(depth)<<2 | int32(role)
}

// addContent notes a page whose links are followed.
func (s *seenSet) addContent(url string, content []byte) {
	if content == nil {
		return
	}
	c := maphash.Bytes(s.seed, content)
	if dirs := s.contents[c]; len(dirs) < sameContent {
		s.contents[c] = append(dirs, directory(url))
	}
}

// around returns the directory above a URL's own in which a page of the same
// content was read, "" if there is none: the links of such a page lead ever
// deeper into copies of the page.
func (s *seenSet) around(url string, content []byte) string {
	own := directory(url)
	for _, dir := range s.contents[maphash.Bytes(s.seed, content)] {
		if len(dir) < len(own) && strings.HasPrefix(own, dir) {
			return dir
		}
	}
	return ""
}

// directory is all of a URL up to the last slash of its path.
func directory(url string) string {
	path, _, _ := strings.Cut(url, "?")
	return path[:strings.LastIndexByte(path, '/')+1]
}

func (s *seenSet) dir(url string) uint64 { return maphash.String(s.seed, directory(url)) }

// enter counts a URL that is entered for the first time.
func (s *seenSet) enter(e *frontier.Entry) {
	s.urls++
	if !e.Document {
		s.enterDir(e.Link.URL)
	}
}

func (s *seenSet) enterDir(url string) { s.dirs[s.dir(url)]++ }

func (s *seenSet) inDir(url string) int { return int(s.dirs[s.dir(url)]) }
