package crawl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
)

// sharedHost is how many times the share of one user's pages all of a host may take:
// on a host of many users one must not end the crawl of the others, nor may its
// owner make users without end.
const sharedHost = 5

// maxPauses is how often in a crawl the answers of one user may have the host paused for
// so long that its crawl stops, before the rest of that user's pages is left out.
const maxPauses = 3

// sections are what a crawl got from each user's directory of a host, by the
// directory; "" is what lies in none.
type sections map[string]*store.Section

func newSections(had []store.Section) sections {
	all := sections{}
	for i := range had {
		all[had[i].Dir] = &had[i]
	}
	return all
}

// of returns the section of a URL or path, to be counted in.
func (all sections) of(url string) *store.Section {
	dir := weburl.UserDirectory(url)
	s := all[dir]
	if s == nil {
		s = &store.Section{Dir: dir}
		all[dir] = s
	}
	return s
}

// pause counts a pause of the host that the answer of a URL is the reason for.
func (all sections) pause(url string) {
	if url != "" {
		s := all.of(url)
		s.Pauses, s.Changed = max(s.Pauses, 0)+1, true
	}
}

// anyPaused reports whether the answers of any user had the host paused, in this crawl or
// the one before.
func (all sections) anyPaused() bool {
	for _, s := range all {
		if s.Dir != "" && s.Pauses != 0 {
			return true
		}
	}
	return false
}

// paused reports whether an entry lies in the directory of such a user.
func (all sections) paused(e *frontier.Entry) bool {
	s := all[weburl.UserDirectory(e.Link.URL)]
	return s != nil && s.Dir != "" && s.Pauses != 0
}

// changed lists those that were counted in since the last time.
func (all sections) changed() (some []store.Section) {
	for _, s := range all {
		if s.Changed {
			some = append(some, *s)
			s.Changed = false
		}
	}
	slices.SortFunc(some, func(a, b store.Section) int { return strings.Compare(a.Dir, b.Dir) })
	return some
}

// leftOut says what the limits of sections kept from being asked for.
func (all sections) leftOut() (why []string) {
	for _, dir := range slices.Sorted(maps.Keys(all)) {
		if s := all[dir]; s.Left > 0 {
			name := dir
			name = cmp.Or(name, "pages of no user's")
			why = append(why, fmt.Sprintf("%d links within %s were left out: %d of its %s led to documents, and it brought %s", s.Left, name, s.Relevant, text.Count(s.Read, "page"), gigabytes(s.Bytes)))
		}
	}
	return why[:min(len(why), 5)]
}

// reads counts a page whose links are followed.
func (l *loop) reads(url string, relevant bool) {
	s := l.sections.of(url)
	s.Read, s.Changed = s.Read+1, true
	l.crawl.Read++
	if relevant {
		s.Relevant++
		l.crawl.Relevant++
	}
	l.passed = l.passed || l.barren(s)
}

// heavy tells a section that brought as much as one may.
func (l *loop) heavy(s *store.Section) bool { return l.cfg.MaxBytes > 0 && s.Bytes >= l.cfg.MaxBytes }

// barren tells a section that is not worth its requests: after the first pages of a
// crawl too few lead to documents.
func (l *loop) barren(s *store.Section) bool { return l.few(l.cfg.TrapPages, s.Read, s.Relevant) }

func (l *loop) few(from, read, relevant int) bool {
	return gleaner.Trap{After: from, Rate: l.cfg.TrapRate}.Is(read, relevant)
}

// pausing tells a user whose answers had the host paused too often.
func pausing(s *store.Section) bool { return s.Dir != "" && s.Pauses >= maxPauses }

// spent reports whether what is true of some sections is so of all that a crawl
// follows links in: then it is true of the site.
func (l *loop) spent(is func(*store.Section) bool) bool {
	return !slices.ContainsFunc(l.site.Scopes, func(prefix string) bool { return !is(l.sections.of(prefix)) })
}

// beyond names the limit that the section of a URL has reached, where the site goes
// on without it, and counts the URL with those that are not asked for by that.
func (l *loop) beyond(e *frontier.Entry) (why gleaner.Outcome) {
	s := l.sections[weburl.UserDirectory(e.Link.URL)] // a page names users without number
	switch {
	case s == nil:
		return ""
	case l.heavy(s) && !l.spent(l.heavy):
		why = gleaner.Outcome(ByteLimit)
	case l.barren(s) && !worthIt(e) && !l.spent(l.barren):
		why = gleaner.Outcome(Trap)
	case pausing(s) && !l.spent(pausing):
		why = outcomePauses
	default:
		return ""
	}
	s.Left, s.Changed = s.Left+1, true
	return why
}
