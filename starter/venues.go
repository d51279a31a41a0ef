package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/metadata"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
)

func venuesCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "venues", Short: "Find out what a venue is called"}
	cmd.AddCommand(&cobra.Command{Use: "search NAME", Short: "List venues by name, acronym or words of either", Args: cobra.MinimumNArgs(1),
		Long: `List the venues that DBLP knows under a name, with the keys by which the other
commands name them. It needs neither a worker nor a database.`,
		Example: "  starter venues search webdb\n  starter venues search very large data bases --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			dblp, closeIt, err := c.dblp(cmd.Context())
			if err != nil {
				return err
			}
			defer closeIt()
			words := strings.Join(args, " ")
			found, err := dblp.Venues(cmd.Context(), words)
			if err == nil && len(found) == 0 {
				err = metadata.ErrUnknownVenue{Name: words}
			}
			return printRows(c, found, err, "VENUE\tNAME\tKIND", func(v metadata.VenueInfo) string {
				return fmt.Sprintf("%s\t%s\t%s", v.Key, v.Name, v.Kind)
			})
		}})
	return cmd
}

// dblp opens DBLP: paced together with all workers where there is a database, by
// itself where there is none.
func (c *cli) dblp(ctx context.Context) (*metadata.DBLP, func(), error) {
	a, err := c.Application(ctx)
	if err == nil {
		return a.Catalogues.DBLP, a.Close, nil
	}
	if !errors.Is(err, app.ErrNoDatabase) {
		return nil, nil, err
	}
	cfg, err := c.Settings()
	if err != nil {
		return nil, nil, err
	}
	cat, err := app.OpenCatalogues(cfg, c.Log(cfg))
	return cat.DBLP, func() {}, err
}

// sourceFlags say where the list of a venue's papers comes from. What is given is
// kept with the venue, so that the next command need not say it again.
type sourceFlags struct {
	sources string
	papers  string
	ids     map[string]string
}

func (f *sourceFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.sources, "sources", "", "sources of this venue's papers, such as dblp,crossref,arxiv (default: the setting sources); kept with the venue")
	fl.StringVar(&f.papers, "papers", "", "file with the venue's papers (csv, jsonl, bibtex, ris, doi), for a venue that DBLP lacks; kept with the venue; of a harvest without a venue the list that it is after")
	fl.StringToStringVar(&f.ids, "id", nil, "the venue's name in other catalogues: issn=1234-5678, openalex=S123, acl=emnlp, oai=SET; kept with the venue")
}

// saveSources writes what the flags say of a venue to the record.
func saveSources(ctx context.Context, c *cli, a *app.App, key string, years gleaner.Years, f *sourceFlags) error {
	db, sources := a.DB, f.sources
	for _, name := range harvest.Names(sources) {
		if all := a.Stages.Papers.AllSources(); !slices.Contains(all, name) {
			return fmt.Errorf("%w: --sources: %q is none of %s (openalex wants openalex-key, oai wants oai-endpoint)", program.ErrUsage, name, strings.Join(all, ", "))
		}
	}
	if err := oneOf("id", []string{"issn", "openalex", "acl", "oai"}, slices.Sorted(maps.Keys(f.ids))...); err != nil {
		return err
	}
	if f.papers != "" {
		if err := f.replacesNone(ctx, db, key); err != nil {
			return err
		}
		sources = cmp.Or(sources, harvest.SourceFile)
		papers, err := papersOfFile(c.Err, key, years, f.papers)
		if err != nil {
			return err
		}
		byYear := map[int][]gleaner.Paper{}
		for _, p := range papers {
			if !strings.Contains(p.Key, "/") {
				p.Key = key + "/" + p.Key // "smith03" is in many files
			}
			byYear[p.Year] = append(byYear[p.Year], p)
		}
		for year, some := range byYear {
			if err := a.Stages.Papers.Enter(ctx, harvest.SourceFile, key, fmt.Sprint(year), some); err != nil {
				return err
			}
		}
	}
	if sources == "" && len(f.ids) == 0 {
		return nil
	}
	return db.DescribeVenue(ctx, key, f.ids, sources)
}

// replacesNone refuses a file for a venue that other sources list, unless that is asked for.
func (f *sourceFlags) replacesNone(ctx context.Context, db *store.DB, key string) error {
	v, err := db.Venue(ctx, key)
	had, unread := db.Papers(ctx, key, gleaner.Years{})
	if err := cmp.Or(err, unread); err != nil {
		return err
	}
	if f.sources == "" && len(had) > 0 && !strings.Contains(v.Sources, harvest.SourceFile) {
		return fmt.Errorf("%w: --papers would replace the %d papers of %s, which other sources list; add --sources file, "+
			"or leave the venue out, so that the file is a list of its own", program.ErrUsage, len(had), key)
	}
	return nil
}

// listedVenueKey is the key of a venue that only a file lists.
func listedVenueKey(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return "list/" + strings.ToLower(strings.Join(strings.Fields(name), "-"))
}

// venueKey makes a name a venue's key; one that a file lists need not be in DBLP. Of a key with
// capitals the spelling is looked up: there are keys that have some.
func venueKey(ctx context.Context, a *app.App, name string, f *sourceFlags) (string, error) {
	isKey := strings.Count(name, "/") == 1
	if gleaner.ParseGoal(name).Venue == "" || isKey && name == strings.ToLower(name) {
		return name, nil
	}
	key := listedVenueKey(name)
	if f.papers != "" && !strings.Contains(f.sources, harvest.SourceDBLP) {
		return key, nil
	}
	if v, err := a.DB.Venue(ctx, key); err != nil || v.Sources != "" {
		return key, err
	}
	if h, err := a.DB.FindHarvest(ctx, name); isKey && err == nil {
		return h.Venue, nil
	}
	v, err := a.Catalogues.DBLP.ResolveVenue(ctx, name)
	if isKey && err != nil && !metadata.UserError(err) {
		return name, nil
	}
	return v.Key, err
}

// harvestVenue makes a name a venue's key and keeps what the flags say of it. It
// finds out before a harvest starts whether there is such a venue with a volume in
// those years, so that a slip of the pen is told at once. A venue that was listed
// before, that is not DBLP's, or that cannot be looked up now is left to the
// worker.
func harvestVenue(ctx context.Context, c *cli, name string, years gleaner.Years, f *sourceFlags) (string, error) {
	a, err := c.Application(ctx)
	if err != nil {
		return "", err
	}
	defer a.Close()
	key, err := venueKey(ctx, a, name, f)
	if err != nil {
		return "", err
	}
	if err := saveSources(ctx, c, a, key, years, f); err != nil {
		return "", err
	}
	v, err := a.DB.Venue(ctx, key)
	if err != nil || v.Sources != "" {
		return key, err
	}
	if known, err := a.DB.Papers(ctx, key, years); err != nil || len(known) > 0 {
		return key, err
	}
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	if _, err := a.Catalogues.DBLP.Volumes(ctx, key, years); metadata.UserError(err) {
		return "", err
	}
	return key, nil
}

// checkPatience bounds how long a command waits for DBLP before it leaves the
// question to the worker.
const checkPatience = 15 * time.Second
