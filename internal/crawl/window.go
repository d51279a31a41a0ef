package crawl

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"gleaner/internal/frontier"
	"gleaner/internal/rank"
)

// The window is the part of the frontier that the strategy chooses from: the
// best of each mark. Its size bounds memory whatever the size of the site.
const (
	windowSize    = 512
	windowPerMark = 64
)

// window mirrors the best waiting rows of one site. candidates and entries run
// in parallel.
type window struct {
	site       int
	pool       *pgxpool.Pool
	candidates []rank.Candidate
	entries    []*frontier.Entry
	at         map[frontier.Hash]int // place in entries
	all        bool                  // every waiting row is in it
	filled     bool
}

func (w *window) empty() bool { return len(w.entries) == 0 }

// low reports whether the record may hold something better to choose from.
func (w *window) low() bool {
	return !w.filled || !w.all && len(w.entries) < windowSize/4
}

// fill reads the window anew. What was taken must have been written before.
func (w *window) fill(ctx context.Context) error {
	entries, err := frontier.Window(ctx, w.pool, w.site, windowPerMark, windowSize)
	if err != nil {
		return err
	}
	waiting, _, err := frontier.Left(ctx, w.pool, w.site)
	if err != nil {
		return err
	}
	w.candidates, w.entries, w.at = w.candidates[:0], w.entries[:0], map[frontier.Hash]int{}
	for i := range entries {
		w.put(&entries[i])
	}
	w.filled, w.all = true, waiting <= len(entries)
	return nil
}

func (w *window) put(e *frontier.Entry) {
	h := e.Hash()
	if i, ok := w.at[h]; ok {
		w.entries[i], w.candidates[i] = e, e.Candidate
		return
	}
	w.at[h] = len(w.entries)
	w.entries = append(w.entries, e)
	w.candidates = append(w.candidates, e.Candidate)
}

// enter adds rows that were just written; a window grown too wide is read anew.
func (w *window) enter(e *frontier.Entry) {
	if !w.filled {
		return
	}
	if len(w.entries) >= 2*windowSize {
		w.filled, w.all = false, false
		return
	}
	w.put(e)
}

// drop removes an entry that was fetched under another name.
func (w *window) drop(h frontier.Hash) {
	if i, ok := w.at[h]; ok {
		w.take(i)
	}
}

func (w *window) take(i int) *frontier.Entry {
	e := w.entries[i]
	last := len(w.entries) - 1
	delete(w.at, e.Hash())
	if i != last {
		w.entries[i], w.candidates[i] = w.entries[last], w.candidates[last]
		w.at[w.entries[i].Hash()] = i
	}
	w.entries, w.candidates = w.entries[:last], w.candidates[:last]
	return e
}

// seenLimit bounds the set of known URLs that a slice keeps in memory, in
// entries of some 40 bytes. Beyond it the record alone tells what is new.
const seenLimit = 250_000

// seenSet remembers at what depth a site's URLs are known, so that a link in
// every page's menu is not written once a page.
type seenSet struct{ depth map[frontier.Hash]int16 }

func loadSeen(ctx context.Context, pool *pgxpool.Pool, site int) (*seenSet, error) {
	rows, err := pool.Query(ctx, `SELECT hash, depth FROM urls WHERE site_id=$1 LIMIT $2`, site, seenLimit)
	if err != nil {
		return nil, err
	}
	s := &seenSet{depth: map[frontier.Hash]int16{}}
	var h []byte
	var d int16
	_, err = pgx.ForEachRow(rows, []any{&h, &d}, func() error {
		s.depth[frontier.Hash(h)] = d
		return nil
	})
	return s, err
}

// known reports whether a URL is known at this depth or a lesser one.
func (s *seenSet) known(h frontier.Hash, depth int) (better, met bool) {
	d, met := s.depth[h]
	return met && int(d) <= depth, met
}

func (s *seenSet) add(h frontier.Hash, depth int) {
	if _, ok := s.depth[h]; ok || len(s.depth) < seenLimit {
		s.depth[h] = int16(min(depth, 32767))
	}
}
