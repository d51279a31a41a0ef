package document

// pager reads a document part by part.
type pager struct {
	first func(to int) (*scan, error)          // pages 1 to to
	more  func(s *scan, from, to int) error    // adds further pages; from is past all before
	count func(s *scan) (pages int, err error) // of the whole document
}

// endPages is how many last pages are read of a document that its first pages
// settled: what its list of references takes.
const endPages = 2

// inParts reads the first pages, asks next about them, and then as much more as
// that says: all up to the options' FirstPages and the last ones, or some last
// ones, or nothing.
func (r *Reader) inParts(read pager, next func(*scan) More) (*scan, error) {
	first := min(VerdictPages, r.opt.FirstPages)
	s, err := read.first(first)
	if err != nil || s.Failed != "" {
		return s, err
	}
	s.Front, s.PageCount = len(s.Pages), len(s.Pages)
	if s.Front < first {
		return s, nil
	}
	more := next(s)
	if more == ReadAll && first < r.opt.FirstPages {
		if err := read.more(s, first+1, r.opt.FirstPages); err != nil || s.Failed != "" {
			return s, err
		}
		s.Front, s.PageCount = len(s.Pages), len(s.Pages)
	}
	if more == ReadAll && s.Front < r.opt.FirstPages { // that was its end
		return s, nil
	}
	if s.PageCount, err = read.count(s); err != nil || s.Failed != "" {
		return s, err
	}
	if s.Stopped = more != ReadAll && s.PageCount > s.Front; more == ReadNoMore || s.PageCount <= s.Front {
		return s, nil
	}
	last := r.opt.LastPages
	if s.Stopped {
		last = min(last, endPages)
	}
	return s, read.more(s, max(s.Front+1, s.PageCount-last+1), s.PageCount)
}
