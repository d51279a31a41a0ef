package config

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/fetch"
)

// Secret is a value that is never shown: it comes from the environment or from a
// file alone, and prints without what is secret in it. string(s) is the value.
type Secret string

// String shows an address without its password, and all else as stars.
func (s Secret) String() string { return hidden(string(s)) }

// GoString keeps it out of %#v.
func (s Secret) GoString() string { return strconv.Quote(s.String()) }

// MarshalText keeps it out of what is encoded.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Network is a range of addresses, and a port of them; Port is one of TCP.
type (
	Network = fetch.Network
	Port    = uint16
)

// Size is a number of bytes, written 10485760, 10MiB or 20GB.
type Size int64

var sizeText = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([kKMGT]i?)?B?$`)

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(text []byte) error {
	parts := sizeText.FindStringSubmatch(string(text))
	if parts == nil {
		return errors.New("no size")
	}
	n, err := strconv.ParseFloat(parts[1], 64)
	if err != nil {
		return err
	}
	for _, u := range sizeUnits() {
		if strings.EqualFold(strings.TrimSuffix(u.name, "B"), parts[2]) {
			n *= float64(u.bytes)
		}
	}
	if n >= math.MaxInt64 {
		return errors.New("too large")
	}
	*s = Size(n)
	return nil
}

// String is the size in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range sizeUnits() {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

type sizeUnit struct {
	name  string
	bytes int64
}

func sizeUnits() []sizeUnit {
	return []sizeUnit{{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}}
}

var daysOrWeeks = regexp.MustCompile(`([0-9]*\.?[0-9]+)([dw])`)

// ParseDuration reads a duration as Go writes it, and days (30d) and weeks (2w).
// It takes none that is negative, and blanks before units.
func ParseDuration(v string) (time.Duration, error) {
	hours := daysOrWeeks.ReplaceAllStringFunc(strings.ReplaceAll(v, " ", ""), func(part string) string {
		n, _ := strconv.ParseFloat(part[:len(part)-1], 64)
		if strings.HasSuffix(part, "w") {
			n *= 7
		}
		return strconv.FormatFloat(n*24, 'f', -1, 64) + "h"
	})
	d, err := time.ParseDuration(hours)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration such as 500ms, 90s, 12h, 30d or 2w", v)
	}
	if d < 0 {
		return 0, fmt.Errorf("%s is negative", v)
	}
	return d, nil
}

// DurationText is how a duration is written: in days where it is some, and
// without parts that are nothing.
func DurationText(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 2*day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// The settings that take one of few values, or some of them: those of their choices.
type (
	PaceBy      string // what shares one pace
	Source      string // what lists a venue's papers
	Directory   string // what names people's homepages
	CopySource  string // where open copies are looked for
	Provider    string // of web search
	Strategy    string // order of a crawl
	Leads       string // which documents on other hosts are taken
	CrawlPolicy string // which hosts may be asked
	Render      string // whether a browser shows pages that scripts make
	Filter      string // strictness of the academic filter
	LogLevel    string
)

// RenderOff shows no page in a browser.
const RenderOff Render = "off"
