package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/metadata"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
)

// goalNames are the names of all that a harvest command asks for: its arguments,
// then what its flags name.
func (f *harvestFlags) goalNames(args []string) []string {
	names := append([]string{}, args...)
	for _, s := range f.sites {
		names = append(names, gleaner.Goal{Site: s}.String())
	}
	for _, a := range f.authors {
		names = append(names, gleaner.Goal{Author: a}.String())
	}
	if f.sources.papers != "" && len(args) == 0 {
		names = append(names, gleaner.Goal{List: listName(f.sources.papers)}.String())
	}
	return names
}

// checkGoals says what of the names and flags does not go together.
func (f *harvestFlags) checkGoals(names []string) error {
	venues, sites := 0, 0
	for _, n := range names {
		if _, err := gleaner.ParseYears(n); err == nil {
			years := strings.TrimPrefix(f.years+","+n, ",")
			return fmt.Errorf("%w: %s is no venue; of years write --years %s", program.ErrUsage, n, years)
		}
		switch goal := gleaner.ParseGoal(n); {
		case goal.Site != "":
			if _, err := siteURL(goal.Site); err != nil {
				return err
			}
			sites++
		case strings.Contains(goal.Venue, "://"):
			return fmt.Errorf("%w: %s is an address; a site is named by --site %[2]s", program.ErrUsage, n)
		case goal.Venue != "":
			venues++
		}
	}
	switch {
	case slices.Contains(names, "") && f.sources.papers != "" && listName(f.sources.papers) == "":
		return fmt.Errorf("%w: --papers: the list is named by its file, and %s has no name before its ending", program.ErrUsage, f.sources.papers)
	case slices.Contains(names, ""):
		return fmt.Errorf("%w: a venue, an author or a site without a name", program.ErrUsage)
	case len(names) == 0:
		return fmt.Errorf("%w: want a venue such as conf/webdb, --site, --author or --papers", program.ErrUsage)
	case sites == len(names) && f.years != "":
		return fmt.Errorf("%w: --years is of papers, and a site has none", program.ErrUsage)
	case venues > 1 && (f.sources.papers != "" || f.sources.sources != "" || len(f.sources.ids) > 0):
		return fmt.Errorf("%w: --papers, --sources and --id are of one venue", program.ErrUsage)
	}
	return nil
}

// longestSite bounds an address that is part of a workflow's id, of which Temporal
// takes a thousand bytes.
const longestSite = 800

// siteURL is the address of a site as the record has it.
func siteURL(given string) (string, error) {
	if host, _, _ := strings.Cut(given, "/"); !strings.Contains(given, "://") && strings.ContainsAny(host, ".:") {
		given = "https://" + given
	}
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return "", fmt.Errorf("%w: %q is no address of a site; want one such as https://www.example.edu/~ada/",
			program.ErrUsage, config.Redact(given))
	}
	canonical, err := weburl.Canonical(given, "")
	if err != nil {
		return "", fmt.Errorf("%w: %q is no address of a site: %w", program.ErrUsage, given, err)
	}
	if len(canonical) > longestSite {
		return "", fmt.Errorf("%w: the address of a site has %d bytes at most, and this one %d", program.ErrUsage, longestSite, len(canonical))
	}
	return canonical, nil
}

// goal makes what a person named a goal, and keeps what the flags say of it. What
// cannot be is told before a harvest starts.
func (c *cli) goal(ctx context.Context, name string, years gleaner.Years, f *sourceFlags) (gleaner.Goal, error) {
	given := gleaner.ParseGoal(name)
	switch {
	case given.Site != "":
		address, err := siteURL(given.Site)
		if err != nil {
			return gleaner.Goal{}, err
		}
		if a, err := c.Record(ctx); err == nil { // else the worker says what is wrong
			defer a.Close()
			u, _ := url.Parse(address)
			if err := notBlocked(ctx, a.DB, u.Host); err != nil {
				return gleaner.Goal{}, err
			}
		}
		return gleaner.Goal{Site: address}, nil
	case given.Author != "":
		return authorGoal(ctx, c, given)
	case given.List != "":
		return given, knowList(ctx, c, given, years, f)
	}
	key, err := harvestVenue(ctx, c, name, years, f)
	return gleaner.Goal{Venue: key}, err
}

// authorGoal finds the person that is meant. Whom DBLP cannot be asked about now is
// left to the worker where the name is an id.
func authorGoal(ctx context.Context, c *cli, given gleaner.Goal) (gleaner.Goal, error) {
	dblp, closeIt, err := c.dblp(ctx)
	if err != nil {
		return given, err
	}
	defer closeIt()
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	who, err := dblp.ResolveAuthor(ctx, given.Author)
	if err != nil && !metadata.UserError(err) && strings.Count(given.Author, "/") == 1 {
		return given, nil
	}
	return gleaner.Goal{Author: who.PID}, err
}

// listName names the list of a file by its own name, without the ending of a format.
func listName(file string) string {
	name := filepath.Base(file)
	ending := filepath.Ext(name)
	if _, err := biblio.ParseFormat(ending); err == nil || ending == ".txt" {
		name = strings.TrimSuffix(name, ending)
	}
	name = strings.ToValidUTF8(name, "_")
	return gleaner.ParseGoal(gleaner.Goal{List: name}.String()).List
}

// knowList enters the list of a file, or finds the one that was entered before.
func knowList(ctx context.Context, c *cli, given gleaner.Goal, years gleaner.Years, f *sourceFlags) error {
	a, err := c.Application(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	if f.papers != "" {
		path, err := filepath.Abs(f.papers)
		if err != nil {
			return err
		}
		papers, _, err := papersOfList(c.Err, given.String(), years, f.papers)
		if err != nil {
			return err
		}
		return enterList(ctx, a, given.String(), path, papers, func(was string) bool { return was == path })
	}
	v, err := a.DB.Venue(ctx, given.String())
	if err == nil && v.Sources == "" {
		err = program.Unknown{Reason: fmt.Errorf("no list is called %s; `starter harvest --papers FILE` enters one, by the name of its file", given)}
	}
	return err
}

// enterList makes the papers of a file the whole of a list, whatever years are wanted of it now. A
// harvest that runs keeps the papers that it began with. The record names the file by its origin.
func enterList(ctx context.Context, a *app.App, key, origin string, papers []gleaner.Paper, replaces func(was string) bool) error {
	for i := range papers {
		papers[i].Key = key + "/" + papers[i].Key // a list's own: the same paper may be of a venue, too
	}
	if err := keepsItsPapers(ctx, a.DB, key, origin, papers, replaces); err != nil {
		return err
	}
	if err := a.Stages.Papers.Enter(ctx, harvest.SourceFile, key, "list", papers); err != nil {
		return err
	}
	return a.DB.DescribeVenue(ctx, key, map[string]string{harvest.SourceFile: origin}, harvest.SourceFile)
}

// keepsItsPapers refuses other papers for a list that is being harvested, or that is of
// another origin of the same name, which replaces does not let go.
func keepsItsPapers(ctx context.Context, db *store.DB, key, path string, papers []gleaner.Paper, replaces func(was string) bool) error {
	all, err := db.Harvests(ctx)
	if err != nil {
		return err
	}
	of, err := db.Venue(ctx, key)
	if err != nil {
		return err
	}
	runs := slices.ContainsFunc(all, func(h store.Harvest) bool { return h.Venue == key && h.CompletedAt == nil })
	was := cmp.Or(of.IDs[harvest.SourceFile], path)
	if !runs && replaces(was) {
		return nil
	}
	had, err := db.Listing(ctx, harvest.SourceFile, key, gleaner.Years{})
	if err != nil || len(had) == 0 && !runs {
		return err
	}
	type paper struct{ key, title, doi string }
	same := map[paper]int{}
	for _, p := range had {
		same[paper{p.Key, p.Title, p.DOI}]++
	}
	for _, p := range papers {
		same[paper{p.Key, p.Title, p.DOI}]--
	}
	for _, n := range same {
		if n != 0 && !runs {
			return fmt.Errorf("%w: %s is the list of %s, which has other papers; give this one another name, or replace it in the console", program.ErrUsage, key, was)
		}
		if n != 0 {
			return fmt.Errorf("%w: %[2]s is being harvested with other papers; wait for its end, or `starter cancel %[2]s`, or give the file another name", program.ErrUsage, key)
		}
	}
	return nil
}

// papersOfList reads all papers of a list, and those of the years among them. One without a year is of none.
func papersOfList(hints io.Writer, key string, years gleaner.Years, file string) (all, of []gleaner.Paper, err error) {
	if all, err = papersOfFile(hints, key, gleaner.Years{}, file); err != nil {
		return nil, nil, err
	}
	undated := each.Where(all, func(p gleaner.Paper) bool { return p.Year == 0 })
	if of = ofYears(all, years); len(of) == 0 {
		return nil, nil, fmt.Errorf("%w: %s holds no paper of %s; no year is named of %d", program.ErrUsage, file, years, len(undated))
	}
	if len(undated) > 0 && years != (gleaner.Years{}) {
		fmt.Fprintf(hints, "hint: %s of %s without a year left out, as years are asked for\n", text.Count(len(undated), "paper"), file)
	}
	return all, of, nil
}

// papersOfFile reads a list of papers under a name; years leave out the others.
func papersOfFile(hints io.Writer, name string, years gleaner.Years, file string) ([]gleaner.Paper, error) {
	papers, leftOut, err := metadata.ReadFile(file, name, years)
	hintLeftOut(hints, file, leftOut)
	var unread *fs.PathError
	switch {
	case errors.As(err, &unread):
		return nil, fmt.Errorf("%w: %s: %w", program.ErrUsage, file, unread.Err)
	case errors.Is(err, biblio.ErrFormat):
		return nil, fmt.Errorf("%w: %s: %w", program.ErrUsage, file, biblio.ErrFormat)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(papers) == 0 {
		of := ""
		if years != (gleaner.Years{}) {
			of = " of " + years.String()
		}
		return nil, fmt.Errorf("%w: %s holds no paper%s", program.ErrUsage, file, of)
	}
	return papers, nil
}

// hintLeftOut names the entries of a list that are left out.
func hintLeftOut(hints io.Writer, file string, leftOut biblio.SyntaxErrors) {
	if n := len(leftOut); n > 0 {
		fmt.Fprintf(hints, "hint: %s of %s left out:\n%v\n", text.Count(n, "entry"), file, leftOut)
	}
}
