package biblio

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"gleaner/internal/gleaner"
)

// yearOf reads the year out of "2003", "2003-05-01", "May 2003", "2003/05//".
// The second result is false where a text is there but holds no year.
func yearOf(s string) (int, bool) {
	m := yearRE.FindStringSubmatch(s)
	if m == nil {
		return 0, strings.TrimSpace(s) == ""
	}
	year, err := strconv.Atoi(m[1])
	return year, err == nil
}

var yearRE = regexp.MustCompile(`(?:^|[^0-9])(1[6-9]\d\d|2\d\d\d)(?:[^0-9]|$)`)

// authorsOf splits a field of names. BibTeX's " and " and semicolons part
// persons; commas do where there is no other sign and each part is a whole name.
func authorsOf(s string) []gleaner.Author {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return nil
	}
	var names []string
	switch {
	case strings.Contains(s, ";"):
		names = strings.Split(s, ";")
	case strings.Contains(s, "|"):
		names = strings.Split(s, "|")
	case strings.Contains(s, " and "):
		for _, part := range strings.Split(s, " and ") {
			names = append(names, byComma(part)...)
		}
	default:
		names = byComma(s)
	}
	var out []gleaner.Author
	for _, n := range names {
		if n = turned(n); n != "" && !strings.EqualFold(n, "others") && !strings.EqualFold(n, "et al.") {
			out = append(out, gleaner.Author{Name: n})
		}
	}
	return out
}

// byComma splits "Ada Lovelace, Charles Babbage" and leaves "Lovelace, Ada".
func byComma(s string) []string {
	parts := strings.Split(strings.Trim(s, ", "), ",")
	if len(parts) < 2 {
		return []string{s}
	}
	for _, p := range parts {
		if len(strings.Fields(p)) < 2 {
			return []string{s}
		}
	}
	return parts
}

// turned puts "Lovelace, Ada" and "King, Jr., Ada" in the order they are spoken.
func turned(name string) string {
	name = strings.Join(strings.Fields(name), " ")
	parts := strings.Split(name, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	switch len(parts) {
	case 2:
		if isSuffix(parts[1]) {
			return parts[0] + " " + parts[1]
		}
		return strings.TrimSpace(parts[1] + " " + parts[0])
	case 3:
		if isSuffix(parts[2]) { // as RIS has it
			return strings.TrimSpace(parts[1] + " " + parts[0] + " " + parts[2])
		}
		return strings.TrimSpace(parts[2] + " " + parts[0] + " " + parts[1])
	}
	return strings.Trim(name, ", ")
}

func isSuffix(s string) bool {
	switch strings.ToLower(strings.Trim(s, ".")) {
	case "jr", "sr", "ii", "iii", "iv":
		return true
	}
	return false
}

// clean folds spaces and takes the closing full stop off a title.
func clean(title string) string {
	title = strings.Join(strings.Fields(title), " ")
	if strings.HasSuffix(title, ".") && !strings.HasSuffix(title, "..") {
		title = strings.TrimSuffix(title, ".")
	}
	return title
}

// plain is text without what a terminal would obey: lists are looked at there, too.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
