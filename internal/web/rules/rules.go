package rules

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Lists say what of the web a crawl leaves out. An entry of Ignore and Allow is a
// host with all below it (example.org), or an address without its scheme, in which
// a star stands for anything (*/courses.html, example.org/~ada/*).
type Lists struct {
	Ignore          []string `yaml:"ignore,omitempty" json:"ignore,omitempty"`                     // neither followed nor fetched
	Allow           []string `yaml:"allow,omitempty" json:"allow,omitempty"`                       // where pages are followed, on whatever host, and nowhere else; documents are not held to it
	IgnoreTypes     []string `yaml:"ignore-types,omitempty" json:"ignore_types,omitempty"`         // endings of file names, without the dot
	StopDirectories []string `yaml:"stop-directories,omitempty" json:"stop_directories,omitempty"` // names of directories; Learnt stands for those that the statistics name
	Levels          int      `yaml:"levels,omitempty" json:"levels,omitempty"`                     // directories that an address may have; 0 is not said, negative no limit
}

// Entries that stand for something else.
const (
	Learnt = "learnt" // of StopDirectories: the names that gave nothing on many sites
	None   = "none"   // alone in a list: nothing, whatever else would hold
)

// Bounds of lists: they travel with a harvest, and each link is held to them.
const (
	maxEntries = 1000
	maxEntry   = 300
)

// Parse reads lists from YAML. A key that there is none of is an error, so that a
// misspelt list does not pass for an empty one.
func Parse(r io.Reader) (l Lists, err error) {
	dec := yaml.NewDecoder(r)
	dec.KnownFields(true)
	if err := dec.Decode(&l); err != nil && !errors.Is(err, io.EOF) {
		return Lists{}, err
	}
	return l, l.Check()
}

// Check says what of the lists cannot be meant.
func (l Lists) Check() error {
	for _, list := range l.named() {
		if len(*list.entries) > maxEntries {
			return fmt.Errorf("%s: %d entries, at most %d", list.name, len(*list.entries), maxEntries)
		}
		for _, e := range *list.entries {
			if err := list.check(e); err != nil {
				return fmt.Errorf("%s: %q: %w", list.name, e, err)
			}
		}
	}
	return nil
}

// Over is what holds where others hold unless these say otherwise: each list that
// is given is in place of the other's.
func (l Lists) Over(others Lists) Lists {
	from := others.named()
	for i, list := range l.named() {
		if len(*list.entries) == 0 {
			*list.entries = *from[i].entries
		}
	}
	l.Levels = cmp.Or(l.Levels, others.Levels)
	return l
}

// Empty reports whether nothing is said.
func (l Lists) Empty() bool {
	return len(l.Ignore)+len(l.Allow)+len(l.IgnoreTypes)+len(l.StopDirectories) == 0 && l.Levels == 0
}

// Learns reports whether the names that the statistics know are wanted.
func (l Lists) Learns() bool { return slices.Contains(l.StopDirectories, Learnt) }

// list is one of them, by its name in a file.
type list struct {
	name    string
	entries *[]string
	check   func(string) error
}

func (l *Lists) named() []list {
	return []list{{"ignore", &l.Ignore, place}, {"allow", &l.Allow, place}, {"ignore-types", &l.IgnoreTypes, word}, {"stop-directories", &l.StopDirectories, word}}
}

func place(e string) error {
	switch {
	case strings.TrimSpace(e) == "" || len(e) > maxEntry:
		return fmt.Errorf("want 1 to %d letters", maxEntry)
	case strings.Contains(e, "://"):
		return errors.New("an entry has no scheme: it holds for http and https")
	case strings.Trim(e, "*/.") == "":
		return errors.New("that is every address")
	}
	return nil
}

func word(e string) error {
	if strings.TrimSpace(e) == "" || len(e) > maxEntry || strings.ContainsAny(e, "/*") {
		return errors.New("want a name, without slash and star")
	}
	return nil
}
