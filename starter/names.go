package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/internal/web/weburl"
)

// spelling returns a name in the spelling of the record: the canonical URL of a site.
func spelling(name string) string {
	if goal := gleaner.ParseGoal(name); goal.Site != "" {
		if u, err := siteURL(goal.Site); err == nil {
			return gleaner.Goal{Site: u}.String()
		}
	}
	return name
}

// findHarvest finds a harvest by its id or by the name of its goal, in any spelling.
func findHarvest(ctx context.Context, db *store.DB, name string) (store.Harvest, error) {
	name = spelling(name)
	goal, years := gleaner.SplitHarvest(name)
	candidates := []string{name, gleaner.ParseGoal(goal).Harvest(years)}
	if gleaner.ParseGoal(name).Venue != "" { // a venue that a file lists, by its name
		candidates = append(candidates, listedVenueKey(name))
	}
	for _, candidate := range candidates {
		h, err := db.FindHarvest(ctx, candidate)
		if !errors.Is(err, store.ErrNoHarvest) {
			return h, err
		}
	}
	return store.Harvest{}, fmt.Errorf("%s: %w; `starter status` lists them", name, store.ErrNoHarvest)
}

// splitYears parts the id of a harvest into the name of its goal and its years. Years
// that a flag gives take precedence.
func splitYears(name string, flag gleaner.Years) (goal string, years gleaner.Years) {
	goal, years = gleaner.SplitHarvest(name)
	if flag != (gleaner.Years{}) {
		years = flag
	}
	return goal, years
}

// papersOf resolves a name to the venue, person or list whose papers are meant, in the
// spelling of the record, and to the years of the harvest whose id it is. Years that a
// flag gives take precedence. A name of which nothing is known is an error.
func papersOf(ctx context.Context, db *store.DB, name string, flag gleaner.Years) (goal string, years gleaner.Years, err error) {
	goal, years = splitYears(spelling(name), flag)
	if goal == "" {
		return "", years, nil
	}
	h, err := findHarvest(ctx, db, goal)
	if errors.Is(err, store.ErrNoHarvest) {
		papers, err := db.Papers(ctx, goal, gleaner.Years{})
		if err == nil && len(papers) == 0 && gleaner.ParseGoal(goal).Author == "" { // whose papers are those of venues
			err = program.Unknown{Reason: fmt.Errorf("nothing is known of %s; `starter status` lists what was harvested", goal)}
		}
		return goal, years, err
	}
	if err != nil {
		return "", gleaner.Years{}, err
	}
	return h.Venue, years, nil
}

// otherHarvests says which other harvests of a venue there are, where
// the name given is the venue's and not the harvest's own.
func otherHarvests(ctx context.Context, c *cli, db *store.DB, name string, h store.Harvest) error {
	if c.JSON || strings.EqualFold(spelling(name), h.ID) {
		return nil
	}
	all, err := db.Harvests(ctx)
	if err != nil {
		return err
	}
	others := each.Where(all, func(o store.Harvest) bool { return o.Venue == h.Venue && o.ID != h.ID })
	if len(others) > 0 {
		ids := each.Of(others, func(o store.Harvest) string { return o.ID })
		_, err = fmt.Fprintf(c.Out, "This is %s, the latest harvest of %s. Others: %s\n", h.ID, h.Venue, strings.Join(ids, ", "))
	}
	return err
}

// harvestID is the id of the harvest that is named; "" stands for all.
func harvestID(ctx context.Context, db *store.DB, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	h, err := findHarvest(ctx, db, name)
	return h.ID, err
}

// hostName is the name of a host as the record has it.
func hostName(given string) (string, error) {
	host := weburl.HostNamed(given)
	if host == "" {
		return "", fmt.Errorf("%w: %q is no host such as www.example.edu", program.ErrUsage, given)
	}
	return host, nil
}

const harvestArg = "a harvest: its id (conf/webdb/1998-2004), or its venue, site, author or list (conf/webdb, site:URL, author:65/2885, papers:NAME)"
