package gleaner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Years are years of publication: those from From to To, and of these, where List is
// said, the years of the list alone. The zero value is every year.
type Years struct {
	From int `json:"from"`
	To   int `json:"to"`
	// List names the years where some between are left out, in its one form:
	// "2001-2003,2007"; else it is "".
	List string `json:"list,omitempty"`
}

// ParseYears reads "2003", "1998-2004", "1998–2004" or a list of such: "2001-2003,2007".
func ParseYears(s string) (Years, error) {
	var all []int
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(strings.ReplaceAll(strings.TrimSpace(part), "–", "-"), "-")
		if !isRange {
			to = from
		}
		a, errA := strconv.Atoi(strings.TrimSpace(from))
		b, errB := strconv.Atoi(strings.TrimSpace(to))
		switch {
		case errA != nil || errB != nil:
			return Years{}, fmt.Errorf("years %q: want years, such as 2003, 1998-2004 or 2001-2003,2007", s)
		case min(a, b) < 1600 || max(a, b) > 2999:
			return Years{}, fmt.Errorf("years %q: outside 1600-2999; each year has four digits, as in 2005-2015", s)
		case a > b:
			return Years{}, fmt.Errorf("years %q: the first year is after the last", s)
		}
		for y := a; y <= b; y++ {
			all = append(all, y)
		}
	}
	years := YearsOf(all...)
	if len(years.List) > longestYears {
		return Years{}, fmt.Errorf("years: the list has %d letters in its shortest form, and %d at most name a harvest", len(years.List), longestYears)
	}
	return years, nil
}

// longestYears bounds a list that is part of a workflow's id.
const longestYears = 100

// YearsOf are the years named, in any order; of none it is the zero value.
func YearsOf(named ...int) Years {
	all := slices.Compact(slices.Sorted(slices.Values(named)))
	if len(all) == 0 {
		return Years{}
	}
	years := Years{From: all[0], To: all[len(all)-1]}
	var spans []string
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n] == all[n-1]+1 {
			n++
		}
		spans = append(spans, Years{From: all[0], To: all[n-1]}.String())
		all = all[n:]
	}
	if len(spans) > 1 {
		years.List = strings.Join(spans, ",")
	}
	return years
}

// All names the years, the first first; nil is every year.
func (r Years) All() (all []int) {
	if r == (Years{}) {
		return nil
	}
	list := r.List
	if list == "" {
		list = r.String()
	}
	for span := range strings.SplitSeq(list, ",") {
		from, to, _ := strings.Cut(span, "-")
		a, _ := strconv.Atoi(from)
		b, err := strconv.Atoi(to)
		if err != nil {
			b = a
		}
		for y := a; y <= b; y++ {
			all = append(all, y)
		}
	}
	return all
}

// Contains reports whether y is one of the years.
func (r Years) Contains(y int) bool {
	return r == (Years{}) || r.From <= y && y <= r.To && (r.List == "" || slices.Contains(r.All(), y))
}

// Meet reports whether the two have a year in common.
func (r Years) Meet(o Years) bool {
	if r == (Years{}) || o == (Years{}) {
		return true
	}
	if r.List == "" && o.List == "" {
		return r.From <= o.To && o.From <= r.To
	}
	all := r.All()
	return slices.ContainsFunc(o.All(), func(y int) bool { return slices.Contains(all, y) })
}

// Single is the year where there is but one, or 0.
func (r Years) Single() int {
	if r.From != r.To {
		return 0
	}
	return r.From
}

// String is "1998-2004", "2003" for a single year, "2001-2003,2007" for a list, and
// "all years" for the zero value. ParseYears reads all but the last.
func (r Years) String() string {
	switch {
	case r == (Years{}):
		return "all years"
	case r.List != "":
		return r.List
	case r.From == r.To:
		return strconv.Itoa(r.From)
	}
	return fmt.Sprintf("%d-%d", r.From, r.To)
}
