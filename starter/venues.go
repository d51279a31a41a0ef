package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/gleaner"
	"gleaner/internal/metadata"
	"gleaner/internal/service/app"
)

func (c *cli) venuesCommand() *cobra.Command {
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
func (c *cli) harvestVenue(ctx context.Context, name string, years gleaner.Years, f *sourceFlags) (string, error) {
	a, err := c.Application(ctx)
	if err != nil {
		return "", err
	}
	defer a.Close()
	key, err := c.keyOf(ctx, a, name, f)
	if err != nil {
		return "", err
	}
	if err := c.describe(ctx, a, key, years, f); err != nil {
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
