package main

import (
	"context"
	"fmt"
	"strings"

	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/politeness"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// steerSite has a host not asked for a while, or lets it be asked again.
func steerSite(ctx context.Context, t client.Client, db *store.DB, r *run, do string) (did string, err error) {
	if do == "pause" {
		return "paused: nobody asks it until it is resumed", politeness.Pause(ctx, db.Pool, r.name, r.reason)
	}
	names, err := politeness.Resume(ctx, db.Pool, r.name)
	if err == nil && len(names) == 0 {
		err = program.Unknown{Reason: fmt.Errorf("%s is not paused", r.name)}
	}
	if err != nil {
		return "", err
	}
	var goOn []string
	for _, host := range names {
		harvests, err := db.SiteWatchers(ctx, host)
		if err != nil {
			return "", err
		}
		for _, h := range harvests {
			// Nothing has failed as that: the harvest lists its sites again.
			_, err := retryRunning(ctx, t, h, activities.Retry{Host: host, Reason: "stopped"})
			switch {
			case err == nil:
				goOn = append(goOn, h)
			case !hasEnded(err):
				return "", err
			}
		}
	}
	if len(goOn) > 0 {
		return "resumed: it is asked for " + strings.Join(goOn, ", "), nil
	}
	return "resumed: no harvest that runs wants it; it is asked when one that does is started again", nil
}
