package rules

import (
	"fmt"
	"slices"
	"strings"

	"gleaner/internal/web/weburl"
)

// Rule names what keeps a link out. The words are stored and counted in reports.
type Rule string

// The rules.
const (
	Ignored       Rule = "ignore-list"
	Outside       Rule = "outside-allow-list"
	IgnoredType   Rule = "ignored-type"
	TooManyLevels Rule = "directory-levels"
	StopDirectory Rule = "stop-directory"
	Unwelcome     Rule = "unwelcome-name" // of a file; package document knows such names
)

// Names are all rules.
func Names() []string {
	return []string{string(Ignored), string(Outside), string(IgnoredType), string(TooManyLevels), string(StopDirectory), string(Unwelcome)}
}

// Set is Lists, made ready to be asked.
type Set struct {
	ignore, allow []pattern
	types, stop   map[string]bool
	levels        int
}

// New makes a set. learnt are the names that Learnt stands for.
func New(l Lists, learnt []string) *Set {
	s := &Set{ignore: patterns(l.Ignore), allow: patterns(l.Allow), types: setOf(l.IgnoreTypes), stop: setOf(l.StopDirectories), levels: max(l.Levels, 0)}
	if s.stop[Learnt] {
		delete(s.stop, Learnt)
		for _, name := range learnt {
			s.stop[name] = true
		}
	}
	return s
}

func setOf(list []string) map[string]bool {
	out := map[string]bool{}
	for _, e := range list {
		out[strings.TrimPrefix(strings.ToLower(strings.TrimSpace(e)), ".")] = true
	}
	delete(out, None)
	return out
}

// KeepsOut names the rule that keeps a canonical URL out, and its entry; both are
// "" where none does. A document is not held to the allow list.
func (s *Set) KeepsOut(url string, document bool) (rule Rule, entry string) {
	if len(s.ignore)+len(s.allow)+len(s.types)+len(s.stop)+s.levels == 0 {
		return "", ""
	}
	a := takeApart(url)
	if e, ok := anyOf(s.ignore, a); ok {
		return Ignored, e
	}
	if len(s.types) > 0 {
		if ext := weburl.Extension(url); s.types[ext] {
			return IgnoredType, ext
		}
	}
	if _, ok := anyOf(s.allow, a); len(s.allow) > 0 && !ok && !document {
		return Outside, ""
	}
	dirs := strings.Split(strings.Trim(a.dir, "/"), "/")
	if dirs[0] == "" {
		return "", ""
	}
	if s.levels > 0 && len(dirs) > s.levels {
		return TooManyLevels, fmt.Sprintf("%d directories, at most %d", len(dirs), s.levels)
	}
	for _, name := range dirs {
		if name = strings.ToLower(name); s.stop[name] {
			return StopDirectory, name
		}
	}
	return "", ""
}

// Follows reports whether the allow list names a URL.
func (s *Set) Follows(url string) bool {
	_, ok := anyOf(s.allow, takeApart(url))
	return ok
}

// Sets are those of several harvests that want one site: it is kept out what all
// of them keep out, and followed what any of them follows.
type Sets []*Set

// KeepsOut is that of the first set where all of them keep a URL out.
func (all Sets) KeepsOut(url string, document bool) (rule Rule, entry string) {
	for i, s := range all {
		r, e := s.KeepsOut(url, document)
		if r == "" {
			return "", ""
		}
		if i == 0 {
			rule, entry = r, e
		}
	}
	return rule, entry
}

// Follows reports whether the allow list of one names a URL.
func (all Sets) Follows(url string) bool {
	return slices.ContainsFunc(all, func(s *Set) bool { return s.Follows(url) })
}

// address is a URL taken apart, in lower case: example.org, example.org:8080/~ada/x.html
// and its directory /~ada/.
type address struct{ name, whole, dir string }

func takeApart(url string) address {
	_, rest, _ := strings.Cut(url, "://")
	a := address{whole: strings.ToLower(rest)}
	host, path, _ := strings.Cut(a.whole, "/")
	a.name = host
	if colon := strings.LastIndexByte(host, ':'); colon >= 0 && !strings.HasSuffix(host, "]") {
		a.name = host[:colon]
	}
	path, _, _ = strings.Cut(path, "?")
	a.dir = path[:strings.LastIndexByte(path, '/')+1]
	return a
}

// pattern is an entry of Ignore or Allow.
type pattern struct {
	text string // in lower case
	host bool   // it names a host, and with it all hosts below
}

func patterns(list []string) (out []pattern) {
	for _, e := range list {
		if e = strings.ToLower(strings.TrimSpace(e)); e == None {
			continue
		}
		out = append(out, pattern{text: e, host: !strings.Contains(e, "/")})
	}
	return out
}

func anyOf(list []pattern, a address) (entry string, ok bool) {
	for _, p := range list {
		if p.matches(a) {
			return p.text, true
		}
	}
	return "", false
}

func (p pattern) matches(a address) bool {
	if !p.host {
		return glob(p.text, a.whole) || strings.HasSuffix(p.text, "/") && glob(p.text+"*", a.whole)
	}
	host := a.name
	if strings.Contains(p.text, ":") {
		host, _, _ = strings.Cut(a.whole, "/")
	}
	return glob(p.text, host) || glob("*."+p.text, host)
}

// glob matches a text in which stars stand for anything. The last star alone is
// tried again, so that it takes no more steps than the product of the lengths.
func glob(p, s string) bool {
	star, mark, i, j := -1, 0, 0, 0
	for j < len(s) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark, i = i, j, i+1
		case i < len(p) && p[i] == s[j]:
			i, j = i+1, j+1
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(p[i:], "*") == ""
}
