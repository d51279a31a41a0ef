package frontier

import (
	"context"
	"fmt"
	"time"

	"gleaner/internal/gleaner"
)

// Outcomes of URLs that are set aside because of what they do to the program.
const (
	Killed   gleaner.Outcome = "crawler-killed" // the process that worked on the answer died
	Panicked gleaner.Outcome = "crawler-panic"  // the answer made the program panic
)

// MaxDeaths is the number of process deaths over a URL after which it is set aside.
// Other work of the same process is charged too: one death says little.
const MaxDeaths = 3

// Charge notes that the process died over the answer of a URL that waits, or fails for now. The URL
// has failed then, and rests for a random part of rest, longer after each death: several
// that one process was at are tried again at different times. After MaxDeaths it is set aside.
func Charge(ctx context.Context, q Querier, siteID int, h Hash, crawl int, rest time.Duration) error {
	_, err := q.Exec(ctx, `UPDATE urls SET deaths = deaths + 1, crawl = $3, fetched_at = now(), outcome = $5, state = 3,
			reason = 'the process that read its answer ended',
			next_try = CASE WHEN deaths + 1 < $4 THEN clock_timestamp() + (deaths + 1) * random() * $6::interval END
		WHERE site_id = $1 AND hash = $2 AND (state = 0 OR state = 3 AND next_try IS NOT NULL)`,
		siteID, h[:], crawl, MaxDeaths, string(Killed), rest)
	if err != nil {
		return fmt.Errorf("frontier: charge: %w", err)
	}
	return nil
}
