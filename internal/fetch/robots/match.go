package robots

import "strings"

// rule is one Allow or Disallow line.
type rule struct {
	allow  bool
	text   string // line of the file, for people
	octets int    // of the pattern: the longest match wins
	// parts are the texts between the asterisks, normalised; the first is a prefix of the path.
	// anchored means that the last one ends it ("$").
	parts    []string
	anchored bool
	// eitherForm also matches the path as it was encoded, since an asterisk may extend into the
	// query.
	eitherForm bool
}

// newRule parses a pattern. ok is false for an empty one, which matches nothing.
func newRule(allow bool, pattern string) (r rule, ok bool) {
	if pattern == "" {
		return rule{}, false
	}
	r = rule{allow: allow, text: pattern}
	// Paths begin with a slash, which some authors omit.
	if pattern[0] != '/' && pattern[0] != '*' {
		pattern = "/" + pattern
	}
	body, anchored := strings.CutSuffix(pattern, "$")
	r.anchored = anchored
	hasQuery := strings.Contains(body, "?")
	raw := strings.Split(body, "*")
	seenQuery := false
	for i, p := range raw {
		if p == "" && i > 0 && i < len(raw)-1 {
			continue // consecutive asterisks are one
		}
		if seenQuery {
			// Only the part after a question mark is normalised as a query.
			n := normalise("?"+p, true)
			r.parts = append(r.parts, n[1:])
		} else {
			r.parts = append(r.parts, normalise(p, true))
		}
		seenQuery = seenQuery || strings.Contains(p, "?")
		r.octets += len(r.parts[len(r.parts)-1])
	}
	r.octets += len(raw) - 1
	if anchored {
		r.octets++
	}
	r.eitherForm = len(raw) > 1 && !hasQuery
	return r, true
}

// plain reports whether the pattern is only a prefix.
func (r *rule) plain() bool { return len(r.parts) == 1 && !r.anchored }

// matches reports whether the pattern matches the path in one of its two forms.
func (r *rule) matches(path, asEncoded string) bool {
	return r.matchesForm(path) || (r.eitherForm && asEncoded != path && r.matchesForm(asEncoded))
}

// matchesForm matches each part at its first occurrence, which suffices since an asterisk matches
// anything.
func (r *rule) matchesForm(path string) bool {
	rest, ok := strings.CutPrefix(path, r.parts[0])
	if !ok {
		return false
	}
	last := len(r.parts) - 1
	if last == 0 {
		return !r.anchored || rest == ""
	}
	for _, p := range r.parts[1:last] {
		i := strings.Index(rest, p)
		if i < 0 {
			return false
		}
		rest = rest[i+len(p):]
	}
	if r.anchored {
		return strings.HasSuffix(rest, r.parts[last])
	}
	return strings.Contains(rest, r.parts[last])
}

// decide returns the rule for a path: the one with the most octets, Allow on a tie (RFC 9309
// section 2.2.2), or nil.
func decide(rules []rule, path, asEncoded string) *rule {
	var best *rule
	for i := range rules {
		r := &rules[i]
		if best != nil && (r.octets < best.octets || (r.octets == best.octets && (best.allow || !r.allow))) {
			continue
		}
		if r.matches(path, asEncoded) {
			best = r
		}
	}
	return best
}
