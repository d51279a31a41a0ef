package homepage

import (
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// queryVariations are the queries for one author, name with each of the
// venue's names (pairs of N and P, Zhuang et al. §3.2), the best first and
// none twice. Without a venue name the name stands alone.
func queryVariations(author gleaner.Author, venueNames []string) []string {
	n := displayName(author.Name)
	if n == "" {
		return nil
	}
	var out []string
	seen := map[string]bool{}
	for _, v := range venueNames {
		v = strings.Join(strings.Fields(v), " ")
		q := n + " " + v
		if v != "" && !seen[text.Fold(q)] {
			seen[text.Fold(q)] = true
			out = append(out, q)
		}
	}
	if len(out) == 0 {
		out = append(out, n)
	}
	return out
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
