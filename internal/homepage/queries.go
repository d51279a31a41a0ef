package homepage

import (
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// venueQuery is the name with the venue's first name (a pair of N and P, Zhuang et al.
// §3.2). The venue's other names led to no further homepage.
func venueQuery(author gleaner.Author, venueNames []string) string {
	if len(venueNames) == 0 {
		return displayName(author.Name)
	}
	return titleQuery(author, venueNames[0])
}

// titleQuery is the name with one title.
func titleQuery(author gleaner.Author, title string) string {
	return displayName(author.Name) + " " + strings.Join(strings.Fields(title), " ")
}

// displayName removes the homonym number of a name ("Wei Wang 0001").
func displayName(s string) string {
	fs := strings.Fields(s)
	for len(fs) > 1 && strings.Trim(fs[len(fs)-1], "0123456789") == "" {
		fs = fs[:len(fs)-1]
	}
	return strings.Join(fs, " ")
}

// VenueNames returns the names under which a venue is searched for: the last part of its
// key, then the given titles.
func VenueNames(key string, titles ...string) []string {
	var out []string
	seen := map[string]bool{}
	add := func(s string) {
		s = strings.Join(strings.Fields(s), " ")
		if s != "" && !seen[text.Fold(s)] {
			seen[text.Fold(s)] = true
			out = append(out, s)
		}
	}
	if i := strings.LastIndexByte(key, '/'); i >= 0 {
		add(strings.ToUpper(key[i+1:]))
	} else {
		add(key)
	}
	for _, t := range titles {
		add(t)
	}
	return out
}
