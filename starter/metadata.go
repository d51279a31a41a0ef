package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/metadata"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
)

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

// listKey is the key of a venue that only a file lists.
func listKey(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return "list/" + strings.ToLower(strings.Join(strings.Fields(name), "-"))
}

// describe writes what the flags say of a venue to the record.
func describe(ctx context.Context, a *app.App, key string, years gleaner.Years, f *sourceFlags) error {
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
		papers, err := papersOfFile(ctx, key, years, f.papers)
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

func metadataCommand(c *cli) *cobra.Command {
	var f sourceFlags
	var given string
	var locate bool
	show := &cobra.Command{Use: "show VENUE|author:PID|papers:NAME [--years YEARS]", Short: "Print what a venue published, and what is known of it before any crawl", Args: args(1, "a venue, person or list, such as conf/webdb or author:65/2885"),
		Long: `Print the papers of a venue, a person or a list with their identifiers, the sources that each field
comes from, the open copies that catalogues know, and whether the library holds
them and why. The catalogues are asked, at their pace, for what the record lacks;
a harvest then need not ask again. It needs a database and no worker.`,
		Example: `  starter metadata show conf/webdb --years 2003
  starter metadata show WebDB --years 1998-2004 --json
  starter metadata show journals/jair --years 2003 --sources dblp,crossref --id issn=1076-9757 --locate
  starter metadata show author:65/2885
  starter metadata show "Local Workshop" --years 2003 --papers workshop.bib`,
		RunE: func(cmd *cobra.Command, args []string) error {
			years, err := yearsFlag(given)
			if err != nil {
				return err
			}
			return showMetadata(c, cmd.Context(), args[0], years, &f, locate)
		}}
	f.register(show)
	show.Flags().Var((*yearsGiven)(&given), "years", yearsHelp)
	show.Flags().BoolVar(&locate, "locate", false, "ask the catalogues of the setting copies for open copies, too")
	cmd := &cobra.Command{Use: "metadata", Short: "See what catalogues know of a venue"}
	cmd.AddCommand(show)
	return cmd
}

// knownPaper is one paper of `starter metadata show`.
type knownPaper struct {
	metadata.Record
	Copies []store.Copy `json:"copies"`
	Held   bool         `json:"held"`
	Why    string       `json:"held_why,omitempty"`
}

func showMetadata(c *cli, ctx context.Context, name string, years gleaner.Years, f *sourceFlags, locate bool) error {
	a, err := c.Application(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	name, years = splitYears(name, years)
	key, err := listedKey(c, ctx, a, name, f)
	if err != nil {
		return err
	}
	if err := describe(ctx, a, key, years, f); err != nil {
		return err
	}
	progress := c.Progress("catalogues are asked for " + key)
	defer progress.End()
	records, missing, err := a.Stages.Papers.Known(ctx, key, years, progress.Show)
	for _, m := range missing {
		fmt.Fprintln(c.Err, "not listed:", m)
	}
	if err != nil {
		return err
	}
	if locate {
		if err := a.Stages.Locate(ctx, metadata.Papers(records), func(done, of int) { progress.Show("open copies of papers"); progress.Count(done, of) }); err != nil {
			return err
		}
	}
	known, err := knownPapers(ctx, a, records)
	if err != nil {
		return err
	}
	return c.Print(known, func(w io.Writer) error { return writeKnown(w, key, years, known) })
}

// listedKey is the key of a venue, a person or a list that a command names.
func listedKey(c *cli, ctx context.Context, a *app.App, name string, f *sourceFlags) (string, error) {
	switch given := gleaner.ParseGoal(name); {
	case given.Site != "":
		return "", fmt.Errorf("%w: no catalogue lists a site; want a venue, a person or a list", program.ErrUsage)
	case given.Author != "":
		who, err := authorGoal(c, ctx, given)
		return who.String(), err
	}
	return keyOf(ctx, a, name, f)
}

// keyOf makes a name a venue's key; one that a file lists need not be in DBLP. Of a key with
// capitals the spelling is looked up: there are keys that have some.
func keyOf(ctx context.Context, a *app.App, name string, f *sourceFlags) (string, error) {
	isKey := strings.Count(name, "/") == 1
	if gleaner.ParseGoal(name).Venue == "" || isKey && name == strings.ToLower(name) {
		return name, nil
	}
	key := listKey(name)
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
	if isKey && err != nil && !userError(err) {
		return name, nil
	}
	return v.Key, err
}

func knownPapers(ctx context.Context, a *app.App, records []metadata.Record) ([]knownPaper, error) {
	papers := metadata.Papers(records)
	held, err := a.Stages.Held(ctx, papers)
	if err != nil {
		return nil, err
	}
	keys := each.Of(papers, func(p gleaner.Paper) string { return p.Key })
	copies, err := a.DB.OpenCopies(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := make([]knownPaper, len(records))
	for i, r := range records {
		why, is := held[r.Paper.Key]
		out[i] = knownPaper{Record: r, Copies: copies[r.Paper.Key], Held: is, Why: why}
	}
	return out, nil
}

func writeKnown(w io.Writer, key string, years gleaner.Years, known []knownPaper) error {
	held, copies, dois := 0, 0, 0
	sources := map[string]int{}
	for _, p := range known {
		if p.Held {
			held++
		}
		if len(p.Copies) > 0 {
			copies++
		}
		if p.Paper.DOI != "" {
			dois++
		}
		for _, s := range p.Sources {
			sources[s]++
		}
	}
	for _, p := range known {
		writePaper(w, p)
	}
	fmt.Fprintf(w, "%s %s: %s, %d held, %d wanted; %d with a DOI, %d with copies known;", key, years, text.Count(len(known), "paper"), held, len(known)-held, dois, copies)
	for _, s := range slices.Sorted(maps.Keys(sources)) {
		fmt.Fprintf(w, " %s %d", s, sources[s])
	}
	_, err := fmt.Fprintln(w)
	return err
}

func writePaper(w io.Writer, p knownPaper) {
	fmt.Fprintf(w, "%s  %d  %s\n", p.Paper.Key, p.Paper.Year, p.Paper.Title)
	line := func(label, value string, from ...string) {
		if value == "" {
			return
		}
		if len(from) > 0 {
			value += "  [" + strings.Join(from, ", ") + "]"
		}
		fmt.Fprintf(w, "    %-8s %s\n", label, value)
	}
	line("authors", strings.Join(gleaner.Names(p.Paper.Authors), ", "), p.From["authors"]...)
	line("doi", p.Paper.DOI, p.From["doi"]...)
	line("arxiv", p.Paper.ArXiv, p.From["arxiv"]...)
	line("pages", p.Paper.Pages, p.From["pages"]...)
	line("links", strings.Join(p.Paper.Links, " "), p.From["links"]...)
	for _, field := range slices.Sorted(maps.Keys(p.Differ)) {
		line("differs", field+": "+strings.Join(p.Differ[field], "; "))
	}
	for _, cp := range p.Copies {
		what := []string{cp.Version, cp.License, cp.Source}
		line("copy", cp.URL, slices.DeleteFunc(what, func(s string) bool { return s == "" })...)
	}
	if p.Held {
		line("held", p.Why)
	} else {
		line("held", "no")
	}
}

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
			if err != nil {
				return err
			}
			if len(found) == 0 {
				return metadata.ErrUnknownVenue{Name: words}
			}
			return c.Print(found, func(w io.Writer) error { return writeVenues(w, found) })
		}})
	return cmd
}

func writeVenues(w io.Writer, venues []metadata.VenueInfo) error {
	return table(w, "VENUE\tNAME\tKIND", rowsOf(venues, func(v metadata.VenueInfo) string {
		return fmt.Sprintf("%s\t%s\t%s", v.Key, v.Name, v.Kind)
	}))
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

// checkPatience bounds how long a command waits for DBLP before it leaves the
// question to the worker.
const checkPatience = 15 * time.Second

// harvestVenue makes a name a venue's key and keeps what the flags say of it. It
// finds out before a harvest starts whether there is such a venue with a volume in
// those years, so that a slip of the pen is told at once. A venue that was listed
// before, that is not DBLP's, or that cannot be looked up now is left to the
// worker.
func harvestVenue(c *cli, ctx context.Context, name string, years gleaner.Years, f *sourceFlags) (string, error) {
	a, err := c.Application(ctx)
	if err != nil {
		return "", err
	}
	defer a.Close()
	key, err := keyOf(ctx, a, name, f)
	if err != nil {
		return "", err
	}
	if err := describe(ctx, a, key, years, f); err != nil {
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
	if _, err := a.Catalogues.DBLP.Volumes(ctx, key, years); userError(err) {
		return "", err
	}
	return key, nil
}

// userError reports whether an error of a catalogue is for the user to mend.
func userError(err error) bool {
	var (
		unknown   metadata.ErrUnknownVenue
		ambiguous metadata.ErrAmbiguousVenue
		none      metadata.ErrNoVolume
		empty     metadata.ErrNoPapers
		nobody    metadata.ErrNotOnePerson
	)
	return errors.As(err, &unknown) || errors.As(err, &ambiguous) || errors.As(err, &none) || errors.As(err, &empty) || errors.As(err, &nobody)
}

// refused reports whether a service or a file wants something of the user.
func refused(err error) bool {
	var r metadata.ErrRefused
	return errors.As(err, &r)
}
