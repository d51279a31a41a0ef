package metadata

import (
	"cmp"
	"context"
	"regexp"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

var (
	keyRE     = regexp.MustCompile(`^(?i:conf|journals|series|books|reference)/[A-Za-z0-9_-]+$`)
	acronymRE = regexp.MustCompile(`^(.*\S)\s*\(([^()]+)\)$`)
	wordRE    = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
)

// venueKey takes what names a venue in DBLP's way ("conf/webdb", "db/conf/webdb",
// "https://dblp.org/db/conf/webdb/index.html") to its key, or "".
func venueKey(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.Index(s, "/db/"); i >= 0 {
		s = s[i+4:]
	}
	s = strings.TrimPrefix(s, "db/")
	if i := strings.Index(s, "/index."); i >= 0 {
		s = s[:i]
	}
	s = strings.Trim(s, "/") // the case is DBLP's: conf/IEEEares
	if !keyRE.MatchString(s) {
		return ""
	}
	return s
}

// splitAcronym parts "Journal of Artificial Intelligence Research (JAIR)".
func splitAcronym(name string) (title, acronym string) {
	if m := acronymRE.FindStringSubmatch(name); m != nil {
		return m[1], m[2]
	}
	return name, ""
}

// Venues searches for venues by name, acronym or words of either.
func (d *DBLP) Venues(ctx context.Context, words string) ([]VenueInfo, error) {
	return first(ctx, &d.ways, at(d, "search", func(ctx context.Context, b base) ([]VenueInfo, error) {
		return b.searchVenues(ctx, words)
	}))
}

// ResolveVenue finds the venue that a person means by "WebDB", "webdb",
// "conf/webdb", "journals/jair" or the address of its page. ErrUnknownVenue and
// ErrAmbiguousVenue carry suggestions.
func (d *DBLP) ResolveVenue(ctx context.Context, name string) (gleaner.Venue, error) {
	name = strings.TrimSpace(name)
	if key := venueKey(name); key != "" {
		v, err := d.byKey(ctx, key)
		if lower := strings.ToLower(key); is[ErrUnknownVenue](err) && lower != key {
			v, err = d.byKey(ctx, lower)
		}
		if is[ErrUnknownVenue](err) {
			// Likely a slip of the pen: what is called so?
			found, _ := d.Venues(ctx, lastSegment(key))
			return gleaner.Venue{}, ErrUnknownVenue{Name: name, Suggestions: found}
		}
		return v, err
	}
	if name == "" {
		return gleaner.Venue{}, ErrUnknownVenue{Name: name}
	}
	found, err := d.Venues(ctx, name)
	if err != nil && !is[ErrUnavailable](err) {
		return gleaner.Venue{}, err
	}
	exact := exactVenues(found, name)
	if len(exact) == 1 {
		return exact[0].venue(), nil
	}
	if len(exact) > 1 {
		return gleaner.Venue{}, ErrAmbiguousVenue{Name: name, Candidates: exact}
	}
	return d.probe(ctx, name, found, err)
}

// exactVenues are the hits that are called just so. Where several share an
// acronym, the one whose key says the same is meant ("SIGMOD" is conf/sigmod).
func exactVenues(found []VenueInfo, name string) []VenueInfo {
	want := text.Normalise(name)
	var exact, byKey []VenueInfo
	for _, v := range found {
		title, acronym := splitAcronym(v.Name)
		if text.Normalise(v.Acronym) != want && text.Normalise(acronym) != want && text.Normalise(title) != want && text.Normalise(lastSegment(v.Key)) != want {
			continue
		}
		exact = append(exact, v)
		if text.Normalise(lastSegment(v.Key)) == want {
			byKey = append(byKey, v)
		}
	}
	if len(byKey) > 0 {
		return byKey
	}
	return exact
}

// probe tries the pages at which a venue of that name would be, for when the
// search service is out or knows nothing.
func (d *DBLP) probe(ctx context.Context, name string, found []VenueInfo, searchErr error) (gleaner.Venue, error) {
	if wordRE.MatchString(name) {
		for _, kind := range []string{"conf/", "journals/"} {
			if v, err := d.byKey(ctx, kind+strings.ToLower(name)); !is[ErrUnknownVenue](err) {
				return v, err
			}
		}
	}
	if searchErr != nil {
		return gleaner.Venue{}, searchErr
	}
	return gleaner.Venue{}, ErrUnknownVenue{Name: name, Suggestions: found}
}

// byKey reads the venue's own page, so that a key that leads nowhere is found out
// before a harvest begins.
func (d *DBLP) byKey(ctx context.Context, key string) (gleaner.Venue, error) {
	ix, err := d.index(ctx, key)
	if err != nil {
		return gleaner.Venue{}, err
	}
	title, acronym := splitAcronym(ix.title)
	v := gleaner.Venue{Key: key, Name: acronym, Title: title}
	if v.Name == "" {
		v.Name, v.Title = title, ""
	}
	v.Name = cmp.Or(v.Name, lastSegment(key))
	return v, nil
}

func (v VenueInfo) venue() gleaner.Venue {
	title, acronym := splitAcronym(v.Name)
	if v.Acronym != "" {
		acronym = v.Acronym
	}
	acronym = cmp.Or(acronym, title)
	return gleaner.Venue{Key: v.Key, Name: acronym, Title: title}
}
