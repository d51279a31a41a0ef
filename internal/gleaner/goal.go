package gleaner

import "strings"

// Goal is what a harvest is after: the papers of a venue, of a person or of a list,
// or the academic documents of a site. One of the fields is set.
type Goal struct {
	Venue  string `json:"venue,omitempty"`  // DBLP's key: "conf/webdb"
	Site   string `json:"site,omitempty"`   // the URL where its crawl begins
	Author string `json:"author,omitempty"` // DBLP's id of the person: "65/2885"
	List   string `json:"list,omitempty"`   // the name of a list of papers that a person gave
}

// How the names of goals that are no venues begin.
const (
	siteGoal   = "site:"
	authorGoal = "author:"
	listGoal   = "papers:"
)

// ParseGoal reads the name by which commands and the record call a goal:
// "site:https://www.example.edu/~ada/", "author:65/2885", "papers:reading-list";
// every other name is a venue's. A list's is in small letters, with hyphens for blanks.
func ParseGoal(name string) Goal {
	for prefix, goal := range map[string]func(string) Goal{
		siteGoal:   func(s string) Goal { return Goal{Site: s} },
		authorGoal: func(s string) Goal { return Goal{Author: s} },
		listGoal:   func(s string) Goal { return Goal{List: strings.ToLower(strings.Join(strings.Fields(s), "-"))} },
	} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return goal(rest)
		}
	}
	return Goal{Venue: name}
}

// String is the goal's name, as ParseGoal reads it.
func (g Goal) String() string {
	switch {
	case g.Site != "":
		return siteGoal + g.Site
	case g.Author != "":
		return authorGoal + g.Author
	case g.List != "":
		return listGoal + g.List
	}
	return g.Venue
}

// Harvest is the id of the harvest of a goal's papers of some years; without years it
// is the goal's own name.
func (g Goal) Harvest(years Years) string {
	if years == (Years{}) {
		return g.String()
	}
	return g.String() + "/" + years.String()
}

// SplitHarvest is the reverse of Goal.Harvest: the name of the goal, and the years
// that its harvest's id names. Years are written in any form that ParseYears reads.
func SplitHarvest(id string) (goal string, years Years) {
	i := strings.LastIndexByte(id, '/')
	if i <= 0 || ParseGoal(id).Site != "" { // the path of a site may end in a year
		return id, Years{}
	}
	years, err := ParseYears(id[i+1:])
	if err != nil {
		return id, Years{}
	}
	return id[:i], years
}
