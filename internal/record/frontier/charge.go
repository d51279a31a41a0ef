package frontier

import (
	"context"
	"fmt"

	"gleaner/internal/gleaner"
)

// Killed is the outcome of a URL whose answer ended the process that worked on
// it, each time.
const Killed gleaner.Outcome = "crawler-killed"

// Charge notes a try of a URL that waits whose process died over its answer. At
// the last of maxTries it is set aside.
func Charge(ctx context.Context, q Querier, siteID int, h Hash, crawl, maxTries int) error {
	_, err := q.Exec(ctx, `UPDATE urls SET tries = tries + 1, crawl = $3, fetched_at = now(), outcome = CASE WHEN tries + 1 >= $4 THEN $5 ELSE outcome END,
			reason = CASE WHEN tries + 1 >= $4 THEN 'the process that read its answer ended, each time' ELSE reason END,
			state = CASE WHEN tries + 1 >= $4 THEN 3 ELSE 0 END, next_try = NULL
		WHERE site_id = $1 AND hash = $2 AND state = 0`, siteID, h[:], crawl, maxTries, string(Killed))
	if err != nil {
		return fmt.Errorf("frontier: charge: %w", err)
	}
	return nil
}
