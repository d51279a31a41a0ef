package weburl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Reason names why a URL's shape is refused. It is an error, so that
// errors.Is(err, PathTooDeep) tells one from another.
type Reason string

// The reasons. The words are shown to people and counted in reports.
const (
	URLTooLong       Reason = "url-too-long"
	PathTooDeep      Reason = "path-too-deep"
	RepeatedSegments Reason = "repeated-segments"
	CalendarTrap     Reason = "calendar-trap"
)

// Error is the reason's name.
func (r Reason) Error() string { return string(r) }

// ShapeError is a URL that looks like a crawler trap. It matches its Reason.
type ShapeError struct {
	Reason Reason
	URL    string
	Detail string // the measure that broke the limit
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("%s (%s): %s", e.Reason, e.Detail, clip(e.URL))
}

func (e *ShapeError) Unwrap() error { return e.Reason }

// Limits bounds the shapes of URLs that are asked for. A zero field sets no
// limit.
type Limits struct {
	MaxLength  int // bytes of the whole URL
	MaxDepth   int // directories and file of the path
	MaxRepeats int // times that one segment may occur in a path
	MaxNumbers int // segments of a path that are numbers
	FromYear   int // years that a calendar may show, both included
	ToYear     int
}

// DefaultLimits are those that harm no known collection of papers. A calendar
// may be paged 40 years back and two forth from now.
func DefaultLimits(now time.Time) Limits {
	return Limits{
		MaxLength: 2000, MaxDepth: 20, MaxRepeats: 2, MaxNumbers: 6,
		FromYear: now.Year() - 40, ToYear: now.Year() + 2,
	}
}

// CheckShape returns a *ShapeError for a canonical URL whose shape only a trap
// has, or nil.
func (l Limits) CheckShape(canonical string) error {
	refuse := func(r Reason, format string, args ...any) error {
		return &ShapeError{Reason: r, URL: canonical, Detail: fmt.Sprintf(format, args...)}
	}
	if l.MaxLength > 0 && len(canonical) > l.MaxLength {
		return refuse(URLTooLong, "%d bytes", len(canonical))
	}
	_, path, query := split(canonical)
	segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	if l.MaxDepth > 0 && len(segments) > l.MaxDepth {
		return refuse(PathTooDeep, "%d segments", len(segments))
	}
	if seg, n := mostRepeated(segments); l.MaxRepeats > 0 && n > l.MaxRepeats {
		return refuse(RepeatedSegments, "%d × %q", n, clip(seg))
	}
	if n := countNumbers(segments); l.MaxNumbers > 0 && n > l.MaxNumbers {
		return refuse(CalendarTrap, "%d numbers in the path", n)
	}
	if y, ok := calendarYear(segments, query); ok && (l.FromYear > 0 && y < l.FromYear || l.ToYear > 0 && y > l.ToYear) {
		return refuse(CalendarTrap, "year %d", y)
	}
	return nil
}

// mostRepeated is the segment that occurs most often. Numbers are left out: a
// day and a month may be alike.
func mostRepeated(segments []string) (string, int) {
	best, count := "", map[string]int{}
	for _, s := range segments {
		if isNumber(s) {
			continue
		}
		if count[s]++; count[s] > count[best] {
			best = s
		}
	}
	return best, count[best]
}

// countNumbers counts the segments that are numbers.
func countNumbers(segments []string) int {
	n := 0
	for _, s := range segments {
		if isNumber(s) {
			n++
		}
	}
	return n
}

// isNumber says whether s is digits only.
func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// calendarWords tell that numbers are dates.
var calendarWords = []string{"calendar", "kalender", "calendrier", "agenda", "events", "month", "day", "week", "date"}

// calendarYear finds the year that a calendar is asked to show: a number of four
// digits in a URL that has a word of calendars in it, or a year beside a month.
func calendarYear(segments []string, query string) (int, bool) {
	lower := strings.ToLower(strings.Join(segments, "/") + "?" + query)
	isCalendar := slices.ContainsFunc(calendarWords, func(w string) bool { return strings.Contains(lower, w) })
	for i, s := range segments {
		y, ok := yearOf(s)
		if !ok {
			continue
		}
		if isCalendar || i+2 < len(segments) && isMonth(segments[i+1]) && isMonth(segments[i+2]) {
			return y, true
		}
	}
	if !isCalendar {
		return 0, false
	}
	for p := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		_, v, _ := strings.Cut(p, "=")
		if y, ok := yearOf(v); ok {
			return y, true
		}
	}
	return 0, false
}

// yearOf reads "2031", "2031-05", "20310501".
func yearOf(s string) (int, bool) {
	if len(s) < 4 || !isNumber(s[:4]) || s[0] == '0' {
		return 0, false
	}
	switch rest := s[4:]; {
	case rest == "":
	case rest[0] == '-' && len(rest) >= 3 && isMonth(rest[1:3]):
	case len(rest) == 4 && isMonth(rest[:2]) && isNumber(rest):
	default:
		return 0, false
	}
	y, err := strconv.Atoi(s[:4])
	return y, err == nil
}

// isMonth says whether s is one or two digits, as months and days are.
func isMonth(s string) bool { return len(s) <= 2 && isNumber(s) }
