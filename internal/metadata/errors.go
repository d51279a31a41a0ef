package metadata

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// UserError reports whether the user has to correct the venue, the person or the years.
func UserError(err error) bool {
	return is[ErrUnknownVenue](err) || is[ErrAmbiguousVenue](err) || is[ErrNoVolume](err) || is[ErrNoPapers](err) ||
		is[errNotOnePerson](err)
}

// ErrUnknownVenue says that no catalogue entry answers to a name. Asking again
// does not help; one of the suggestions may.
type ErrUnknownVenue struct {
	Name        string
	Suggestions []VenueInfo
}

func (e ErrUnknownVenue) Error() string {
	s := fmt.Sprintf("no venue %q is known", e.Name)
	if len(e.Suggestions) == 0 {
		return s + "; write it as DBLP does, such as conf/webdb or journals/jair"
	}
	return s + "; did you mean " + joinVenues(e.Suggestions)
}

// ErrAmbiguousVenue says that several venues carry a name; one of them has to be
// named by its key.
type ErrAmbiguousVenue struct {
	Name       string
	Candidates []VenueInfo
}

func (e ErrAmbiguousVenue) Error() string {
	return fmt.Sprintf("several venues are called %q; name one by its key: %s", e.Name, joinVenues(e.Candidates))
}

func joinVenues(vs []VenueInfo) string {
	return someOf(vs, func(v VenueInfo) string { return v.Key + " (" + v.Name + ")" })
}

// someOf names the first few of all.
func someOf[T any](all []T, name func(T) string) string {
	words := each.Of(all[:min(8, len(all))], name)
	if more := len(all) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("… (%d more)", more))
	}
	return strings.Join(words, ", ")
}

// ErrNoVolume says that a venue is known but nothing of it is listed for the
// years asked, or that a listed volume is not there.
type ErrNoVolume struct {
	Venue  string
	Years  gleaner.Years // what was asked
	Listed gleaner.Years // the years that the index lists; zero if it lists none
	TOC    string        // the volume that is missing, where one was asked for
	// SeeAlso are volumes of other venues to which the index points for these
	// years, such as a journal that took the proceedings over.
	SeeAlso []string
}

func (e ErrNoVolume) Error() string {
	var s string
	switch {
	case e.TOC != "":
		s = fmt.Sprintf("no volume %s of %s", e.TOC, e.Venue)
	case e.Years == (gleaner.Years{}):
		s = e.Venue + " has no volume"
	default:
		s = fmt.Sprintf("%s has no volume for %s", e.Venue, e.Years)
	}
	if e.Listed != (gleaner.Years{}) {
		s += fmt.Sprintf("; its index lists %s", e.Listed)
	} else if e.TOC == "" {
		s += "; its index lists no volume at all"
	}
	if len(e.SeeAlso) > 0 {
		s += "; see also " + strings.Join(e.SeeAlso, ", ")
	}
	return s
}

// ErrUnavailable says that a service could not be asked now: it refused, broke
// down, or did not answer. Asking again later helps.
type ErrUnavailable struct {
	Service    string
	URL        string // the last address asked
	Status     int    // 0 without an answer
	RetryAfter time.Duration
	// Wall says that a check for browsers stands before the service. It is
	// named and never evaded; coming back soon does not help.
	Wall bool
	Err  error
}

func (e ErrUnavailable) Error() string {
	s := e.Service + " is unavailable"
	several := is[eachWay](e.Err) // which say it of themselves
	if e.Status != 0 && !several {
		s += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Wall && !several {
		s += ": a check for browsers stands before it"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.RetryAfter > 0 {
		s += fmt.Sprintf("; worth asking again in %s", e.RetryAfter.Round(time.Second))
	}
	return s
}

func (e ErrUnavailable) Unwrap() error { return e.Err }

// ErrGate says that the gate could not grant a turn, for a reason of its own. The
// service was not asked, and nothing is known of it.
type ErrGate struct {
	Service string
	Err     error
}

func (e ErrGate) Error() string {
	return fmt.Sprintf("no turn could be had to ask %s: %v", e.Service, e.Err)
}

func (e ErrGate) Unwrap() error { return e.Err }

// ErrRefused says that a service understood the request and will not answer it
// as it is: a key or a contact address is missing, or an argument is wrong.
// Asking again does not help before the configuration is changed.
type ErrRefused struct {
	Service string
	URL     string
	Status  int // 0 if it was not even asked
	Reason  string
}

func (e ErrRefused) Error() string {
	if e.Status == 0 {
		return e.Service + ": " + e.Reason
	}
	return fmt.Sprintf("%s refuses the request (status %d): %s", e.Service, e.Status, e.Reason)
}

// ErrNotFound says that a service has no such record. It is permanent, as far as
// a catalogue is.
type ErrNotFound struct {
	Service string
	URL     string
}

func (e ErrNotFound) Error() string { return e.Service + " has nothing at " + e.URL }

// ErrNotCovered says that a source cannot list a venue at all, for want of an
// identifier that it understands.
type ErrNotCovered struct {
	Source string
	Venue  string
	Needs  string // the identifier that is missing, such as "issn"
}

func (e ErrNotCovered) Error() string {
	return fmt.Sprintf("%s cannot list %s: it needs its %s", e.Source, e.Venue, e.Needs)
}

// ErrBadAnswer says that a service answered with something that is not in its
// documented shape. It is not retried: the same answer would come again.
type ErrBadAnswer struct {
	Service string
	URL     string
	Err     error
}

func (e ErrBadAnswer) Error() string {
	return fmt.Sprintf("%s answered %s in an unknown shape: %v", e.Service, e.URL, e.Err)
}

func (e ErrBadAnswer) Unwrap() error { return e.Err }

// ErrSetAside is why an answer is refused unread: processes died over it before.
var ErrSetAside = errors.New("crawler-killed")

// errNotOnePerson says that a name is nobody's in DBLP, or several people's, who
// have to be told apart by their ids.
type errNotOnePerson struct {
	Name    string
	Several bool
	Found   []gleaner.Author // who are called so, or like that
}

func (e errNotOnePerson) Error() string {
	s := fmt.Sprintf("no person %q is known to DBLP", e.Name)
	if e.Several {
		s = fmt.Sprintf("DBLP knows several people as %q; name one by the id", e.Name)
	}
	if len(e.Found) == 0 {
		return s
	}
	if !e.Several {
		s += "; did you mean"
	}
	return s + ": " + someOf(e.Found, func(a gleaner.Author) string { return a.PID + " (" + a.Name + ")" })
}

// ErrNoPapers says that nothing is listed for a person, or in a list, in the years
// asked.
type ErrNoPapers struct {
	Goal  string // "author:65/2885"
	Years gleaner.Years
}

func (e ErrNoPapers) Error() string {
	return fmt.Sprintf("no paper of %s is listed for %s", e.Goal, e.Years)
}
