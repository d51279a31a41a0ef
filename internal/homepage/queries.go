package homepage

import (
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// venueQuery asks for the name and what the venue is called first (a pair of N and P,
// Zhuang et al. §3.2). The venue's other names led to no further homepage.
func venueQuery(author gleaner.Author, venueNames []string) string {
	if len(venueNames) == 0 {
		return displayName(author.Name)
	}
	return titleQuery(author, venueNames[0])
}

// titleQuery asks for the name and one title.
func titleQuery(author gleaner.Author, title string) string {
	return displayName(author.Name) + " " + strings.Join(strings.Fields(title), " ")
}

// displayName is the name without a homonym number ("Wei Wang 0001").
func displayName(s string) string {
	fs := strings.Fields(s)
	for len(fs) > 1 && strings.Trim(fs[len(fs)-1], "0123456789") == "" {
		fs = fs[:len(fs)-1]
	}
	return strings.Join(fs, " ")
}

// VenueNames are the variations under which a venue is asked for: what the
// source calls it, its short name, and its key's last part.
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
