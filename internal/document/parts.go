package document

import "slices"

// pager reads a document part by part.
type pager struct {
	says  int                                  // pages of the whole document, by the file's own word; 0 for none
	first func(to int) (*scan, error)          // pages 1 to to
	more  func(s *scan, from, to int) error    // adds further pages; from is past all before
	count func(s *scan) (pages int, err error) // of the whole document, where the file does not say
}

// endPages is how many last pages are read of a document that its first pages
// settled: what its list of references takes.
const endPages = 2

// inParts reads the first pages, asks next about them, and then as much more as
// that says: all up to the options' FirstPages and the last ones, or some last
// ones, or nothing, or the last ones and then, if next says so of these, the others.
func (r *Reader) inParts(read pager, next func(*scan) More) (*scan, error) {
	first := min(VerdictPages, r.opt.FirstPages)
	s, err := read.first(first)
	if err != nil || s.Failed != "" {
		return s, err
	}
	s.Front, s.PageCount = len(s.Pages), len(s.Pages)
	if s.Front < first || s.Front == read.says {
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
	if s.PageCount = read.says; s.PageCount < s.Front {
		if s.PageCount, err = read.count(s); err != nil || s.Failed != "" {
			return s, err
		}
	}
	if s.Stopped = more != ReadAll && s.PageCount > s.Front; more == ReadNoMore || s.PageCount <= s.Front {
		return s, nil
	}
	last := r.opt.LastPages
	if more == ReadEnd {
		last = min(last, endPages)
	}
	err = read.more(s, max(s.Front+1, s.PageCount-last+1), s.PageCount)
	if err != nil || s.Failed != "" || more != ReadOn || len(s.Pages) < s.PageCount && next(s) != ReadAll {
		return s, err
	}
	return s, r.between(read, s)
}

// between adds what stands between the first pages and the last ones.
func (r *Reader) between(read pager, s *scan) (err error) {
	last := slices.Clone(s.Pages[s.Front:])
	s.Pages, s.Stopped = s.Pages[:s.Front], false
	if to := min(r.opt.FirstPages, s.PageCount-len(last)); to > s.Front {
		err = read.more(s, s.Front+1, to)
	}
	if s.Front = len(s.Pages); s.Front+len(last) >= s.PageCount { // without a gap
		s.Front += len(last)
	}
	s.Pages = append(s.Pages, last...)
	return err
}
