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

// sharedHost is how many times the limits of one user's pages hold for a whole host. On a
// shared host one user must not end the crawl of the others, and the number of users is
// not bounded otherwise.
const sharedHost = 5

// maxPauses is how often in a crawl the answers of one user may pause the host for so long
// that its crawl stops. The rest of that user's pages is left out then.
const maxPauses = 3

// sections are the counts of a crawl for each user's directory of a host, by directory.
// The section "" is the rest of the host.
type sections map[string]*store.Section

func newSections(had []store.Section) sections {
	all := sections{}
	for i := range had {
		all[had[i].Dir] = &had[i]
	}
	return all
}

// of returns the section of a URL or path.
func (all sections) of(url string) *store.Section {
	dir := weburl.UserDirectory(url)
	s := all[dir]
	if s == nil {
		s = &store.Section{Dir: dir}
		all[dir] = s
	}
	return s
}

// pause counts a pause of the host that the answer of a URL caused.
func (all sections) pause(url string) {
	if url != "" {
		s := all.of(url)
		s.Pauses, s.Changed = max(s.Pauses, 0)+1, true
	}
}

// anyPaused reports whether the answers of any user paused the host, in this crawl or the
// one before.
func (all sections) anyPaused() bool {
	for _, s := range all {
		if s.Dir != "" && s.Pauses != 0 {
			return true
		}
	}
	return false
}

// paused reports whether an entry is in the directory of such a user.
func (all sections) paused(e *frontier.Entry) bool {
	s := all[weburl.UserDirectory(e.Link.URL)]
	return s != nil && s.Dir != "" && s.Pauses != 0
}

// changed returns the sections that have changed since its last call.
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

// leftOut describes the links that the limits of sections excluded.
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

// countPage counts a page whose links are followed.
func (m *limits) countPage(url string, relevant bool) {
	s := m.sections.of(url)
	s.Read, s.Changed = s.Read+1, true
	m.used.Read++
	if relevant {
		s.Relevant++
		m.used.Relevant++
	}
	m.recheck = m.recheck || m.unproductive(s)
}

// tooLarge reports whether a section has reached the limit on bytes.
func (m *limits) tooLarge(s *store.Section) bool {
	return m.cfg.MaxBytes > 0 && s.Bytes >= m.cfg.MaxBytes
}

// unproductive reports whether a section is not worth its requests: too few of its pages
// lead to documents.
func (m *limits) unproductive(s *store.Section) bool {
	return m.isTrap(m.cfg.TrapPages, s.Read, s.Relevant)
}

func (m *limits) isTrap(from, read, relevant int) bool {
	return gleaner.Trap{After: from, Rate: m.cfg.TrapRate}.Is(read, relevant)
}

// pausing reports whether the answers of a user paused the host too often.
func pausing(s *store.Section) bool { return s.Dir != "" && s.Pauses >= maxPauses }

// everySection reports whether a predicate holds for all sections in which a crawl follows
// links, and so for the site.
func (m *limits) everySection(is func(*store.Section) bool) bool {
	return !slices.ContainsFunc(m.scopes, func(prefix string) bool { return !is(m.sections.of(prefix)) })
}

// sectionLimit returns the limit that the section of an entry has reached, if the crawl goes
// on in other sections, and counts the entry as left out.
func (m *limits) sectionLimit(e *frontier.Entry) (why gleaner.Outcome) {
	s := m.sections[weburl.UserDirectory(e.Link.URL)] // a page may name any number of users
	switch {
	case s == nil:
		return ""
	case m.tooLarge(s) && !m.everySection(m.tooLarge):
		why = gleaner.Outcome(ByteLimit)
	case m.unproductive(s) && !worthIt(e) && !m.everySection(m.unproductive):
		why = gleaner.Outcome(Trap)
	case pausing(s) && !m.everySection(pausing):
		why = outcomePauses
	default:
		return ""
	}
	s.Left, s.Changed = s.Left+1, true
	return why
}
