package frontier

import (
	"context"
	"fmt"
	"time"

	"gleaner/internal/gleaner"
)

// Outcomes of URLs that are set aside because of what they do to the program.
const (
	Killed   gleaner.Outcome = "crawler-killed" // the process that worked on the answer died, MaxDeaths times
	Panicked gleaner.Outcome = "crawler-panic"  // the answer made the program panic
)

// MaxDeaths is the number of process deaths over a URL after which it is set aside.
// Other work of the same process is charged too: one death says little.
const MaxDeaths = 3

// Charge notes that the process died over the answer of a URL that waits. The URL
// rests for a random part of rest, longer after each death: several that one process was
// at are tried again at different times. After MaxDeaths it is set aside.
func Charge(ctx context.Context, q Querier, siteID int, h Hash, crawl int, rest time.Duration) error {
	_, err := q.Exec(ctx, `UPDATE urls SET deaths = deaths + 1, crawl = $3, fetched_at = now(), outcome = CASE WHEN deaths + 1 >= $4 THEN $5 ELSE outcome END,
			reason = CASE WHEN deaths + 1 >= $4 THEN 'the process that read its answer ended, each time' ELSE reason END,
			state = CASE WHEN deaths + 1 >= $4 THEN 3 ELSE 0 END,
			next_try = CASE WHEN deaths + 1 < $4 THEN clock_timestamp() + (deaths + 1) * random() * $6::interval END
		WHERE site_id = $1 AND hash = $2 AND state = 0`, siteID, h[:], crawl, MaxDeaths, string(Killed), rest)
	if err != nil {
		return fmt.Errorf("frontier: charge: %w", err)
	}
	return nil
}
