package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
)

func sitesCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "sites", Short: "See the hosts that are crawled, one by one",
		Long: `See the hosts that are crawled: how far each is, why it rests, when it may be asked
next, and what was found there. A host is asked no more by "starter blacklist add", for a
while not by "starter pause HOST", less often by "starter sites slow HOST 30s", again before its time by "starter recrawl HOST", and what failed there by "starter retry HOST".`}
	cmd.AddCommand(sitesList(c), sitesShow(c), sitesSlow(c))
	return cmd
}

// listedSite is a row of `starter sites list`.
type listedSite struct {
	store.SiteRow
	Papers int `json:"papers"` // found there
}

// listedSites is a part of the list.
type listedSites struct {
	Sites []listedSite `json:"sites"`
	Next  string       `json:"next,omitempty"` // of --after, for the part behind it
}

func sitesList(c *cli) *cobra.Command {
	var q store.SiteQuery
	cmd := &cobra.Command{Use: "list [HARVEST]", Short: "List hosts with their state, by name", Args: cobra.MaximumNArgs(1), ValidArgsFunction: c.harvests,
		Example: "  starter sites list\n  starter sites list conf/webdb --state refused\n  starter sites list --after www.example.edu --limit 1000 --json",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			if err := oneOf("state", append(gleaner.SiteStates(), ""), q.State); err != nil {
				return err
			}
			var err error
			if q.Harvest, err = harvestID(ctx, a.DB, strings.Join(args, "")); err != nil {
				return err
			}
			found, err := listSites(ctx, a.DB.SiteRecords, q)
			return printOne(c, found, err, writeSites)
		})}
	cmd.Flags().StringVar(&q.State, "state", "", strings.Join(gleaner.SiteStates(), ", "))
	cmd.Flags().StringVar(&q.After, "after", "", "the hosts behind this one")
	cmd.Flags().IntVar(&q.Limit, "limit", 100, "at most so many")
	return cmd
}

func listSites(ctx context.Context, db store.SiteRecords, q store.SiteQuery) (listedSites, error) {
	found, host := listedSites{Sites: []listedSite{}}, func(r store.SiteRow) string { return r.Host }
	rows, next, err := firstPage(q.Limit, func(limit int) ([]store.SiteRow, error) { q.Limit = limit; return db.Sites(ctx, q) }, host)
	if err != nil {
		return found, err
	}
	found.Next = next
	papers, err := db.SitePapers(ctx, each.Of(rows, host))
	found.Sites = each.Of(rows, func(r store.SiteRow) listedSite { return listedSite{r, papers[r.Host]} })
	return found, err
}

func writeSites(w io.Writer, found listedSites) error {
	err := table(w, "HOST\tSTATE\tPAGES\tDOCUMENTS\tPAPERS\tWAITING\tFAILED\tNEXT REQUEST\tREASON", each.Of(found.Sites, func(s listedSite) string {
		return fmt.Sprintf("%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s", s.Host, s.State, s.Pages, s.Documents, s.Papers, s.Waiting, s.Failed, s.NextWords(time.DateTime), s.Reason)
	}), "no site meets that; harvests and recrawls bring them")
	if err == nil && found.Next != "" {
		_, err = fmt.Fprintf(w, "more:  --after %s\n", found.Next)
	}
	return err
}

func sitesShow(c *cli) *cobra.Command {
	return &cobra.Command{Use: "show HOST", Short: "Show one host: state, reason, next request, who asks it, what failed", Args: args(1, "a host, such as www.example.edu"),
		Example: "  starter sites show www.example.edu",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			s, err := showSite(ctx, a.DB, args[0])
			return printOne(c, s, err, writeSite)
		})}
}

func sitesSlow(c *cli) *cobra.Command {
	return &cobra.Command{Use: "slow HOST DELAY", Short: "Set the least time between two requests to one host", Args: args(2, "a host and a delay, such as www.example.edu 30s"),
		Long:    "Set the least time between two requests to one host, with \"www.\" or without, for all that ask it,\nat most 4m. Where something else calls for a longer one, that holds. 0s takes it back,\nonce the pause under way is over.",
		Example: "  starter sites slow www.example.edu 30s\n  starter sites slow www.example.edu 0s",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			s, err := showSite(ctx, a.DB, args[0])
			var did string
			if err == nil {
				did, err = steerSite(ctx, nil, a.DB, s.Host, steering{"slow", args[1]})
			}
			return done(c, err, map[string]string{runSite: s.Host, "did": did}, "%s %s\n", s.Host, did)
		})}
}

func showSite(ctx context.Context, db *store.DB, given string) (s app.SiteView, err error) {
	host, err := hostName(given)
	if err == nil {
		s, err = app.ViewSite(ctx, db, host)
		err = noSite(host, err)
	}
	return s, err
}

// hasSite fails where a host is named that the record does not know: it would find nothing.
func hasSite(ctx context.Context, db *store.DB, host string) error {
	if host == "" {
		return nil
	}
	_, err := db.Site(ctx, host)
	return noSite(host, err)
}

// noSite is the error of a look for a site, in words where there is none.
func noSite(host string, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return program.Unknown{Reason: fmt.Errorf("no site %s; `starter sites list` lists them", host)}
	}
	return err
}

func writeSite(w io.Writer, s app.SiteView) error {
	var l lines
	row := l.fact
	day := func(at *time.Time) string {
		if at == nil {
			return ""
		}
		return at.Local().Format(time.DateTime)
	}
	row("host", s.Host)
	row("state", strings.TrimSuffix(string(s.State)+": "+s.Reason, ": "))
	row("paused since", day(s.PausedAt))
	row("blacklisted", s.Blocked)
	if s.Blocked == "" {
		row("next request", s.NextWords(time.DateTime))
	}
	row("pace", s.Pace.Words(time.DateTime))
	if s.Holder != "" {
		row("asked by", s.Holder+", until "+day(s.Until)+" unless it goes on")
	}
	row("wanted by", strings.Join(s.Harvests, ", "))
	row("paths", strings.Join(s.Scopes, " "))
	row("pages", fmt.Sprintf("%d fetched, %s, %s found, %d waiting, %d failed",
		s.Pages, text.Count(s.Documents, "document"), text.Count(s.Papers, "paper"), s.Waiting, s.Failed))
	row("crawl began", day(s.Started))
	row("crawl ended", day(s.Finished))
	row("recrawl due", day(s.Due))
	for _, f := range s.Failures {
		next := f.NextWords(time.DateTime)
		if s.PausedAt != nil {
			next = "none while it is paused"
		}
		row("failed as", fmt.Sprintf("%s: %s, next try %s", f.Reason, text.Count(f.URLs, "URL"), next))
	}
	return table(w, "", l)
}

// notBlocked fails for a host on the blacklist.
func notBlocked(ctx context.Context, db *store.DB, host string) error {
	why, err := db.Blocked(ctx, host)
	if err == nil && why != "" {
		err = fmt.Errorf("%w: %s: %s", program.ErrUsage, host, why)
	}
	return err
}
