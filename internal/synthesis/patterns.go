package synthesis

import (
	"fmt"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/rank"
	"gleaner/internal/web/rules"
)

// The parts of CINDI's URL pattern inspection (Chen 2008, §4.2.1) that are switched; its filters
// of protocols and formats, robots.txt and the directories of departments are always on.
const (
	Directories = "directories" // stop directories: those of the program's list, and those learnt
	Levels      = "levels"      // seven levels of directories at most
	Traps       = "traps"       // a site is left of which hardly a page was on topic
)

// Patterns are all parts.
func Patterns() []string { return []string{Directories, Levels, Traps} }

// PatternLevels is how many directories an address may have.
const PatternLevels = 7

// PatternTrap is the rule by which a site is left: its page relevancy rate, as the crawl's
// classifier tells it, is below 5 % after 200 pages.
func PatternTrap() gleaner.Trap { return gleaner.Trap{After: 200, Rate: 0.05} }

func checkPatterns(parts []string) error {
	for _, p := range parts {
		if !slices.Contains(Patterns(), p) {
			return fmt.Errorf("url-patterns: %q is none of %s", p, strings.Join(Patterns(), ", "))
		}
	}
	return nil
}

// Inspected is a crawl with parts of URL pattern inspection. What its lists say of stop
// directories and levels stands.
func (c Config) Inspected(parts []string) (Config, error) {
	var l rules.Lists
	if slices.Contains(parts, Directories) {
		words, err := rank.DefaultLists()
		if err != nil {
			return c, err
		}
		l.StopDirectories = append(slices.Clone(words.StopDirectories), rules.Learnt)
	}
	if slices.Contains(parts, Levels) {
		l.Levels = PatternLevels
	}
	c.Links = c.Links.Over(l)
	if slices.Contains(parts, Traps) {
		c.Trap = PatternTrap()
	}
	return c, nil
}
