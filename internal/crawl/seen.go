package crawl

import (
	"context"
	"hash/maphash"
	"strings"

	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// seenSet holds depth and role of a site's known URLs, so that a link in the menu of all
// pages is not written once a page. It also counts the pages of each directory. It is
// bounded: a slice begins with at most half of its capacity, so that new URLs have room.
// These are the URLs nearest to a homepage, to which most pages link. If the record has
// more, the links of each page are looked up there.
type seenSet struct {
	best    map[frontier.Hash]int32 // depth and role
	dirs    map[uint64]int32        // pages, by directory
	seed    maphash.Seed
	limit   int                     // of best
	met     int                     // URLs on record when the slice began
	partial bool                    // the record knows more URLs
	since   map[frontier.Hash]int32 // URLs without room in best, until they are written to the record
	skipped int                     // recorded URLs that a limit excluded
	urls    int                     // all others

	// contents has, by the hash of a page's content, the directories in which such a page
	// was read in this crawl.
	contents map[uint64][]string
}

// sameContent bounds the directories kept of one content.
const sameContent = 8

func newSeen(limit int) *seenSet {
	return &seenSet{limit: limit, best: map[frontier.Hash]int32{}, since: map[frontier.Hash]int32{}, dirs: map[uint64]int32{}, contents: map[uint64][]string{}, seed: maphash.MakeSeed()}
}

// load adds a URL on record. It is called for all of them when a slice begins, the nearest
// to a homepage first.
func (s *seenSet) load(k *frontier.Known) {
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

// learn adds what the record has of links, if it has URLs that the set lacks.
func (s *seenSet) learn(ctx context.Context, record Recorder, links []page.Link) error {
	var unknown []frontier.Hash
	for i := range links {
		h := frontier.HashOf(links[i].URL)
		if _, met := s.known(h, 0, 0); s.partial && !met {
			unknown = append(unknown, h)
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

// known reports whether a URL was met, and whether with at most this depth and at least
// this role.
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

// around returns the directory above a URL's own in which a page of the same content was
// read, "" for none. The links of such a page may lead ever deeper into copies of it.
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
