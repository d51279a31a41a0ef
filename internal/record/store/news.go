package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// News is what happened between two moments that whoever runs Gleaner wants to know.
type News struct {
	Since    time.Time     `json:"since"`
	Until    time.Time     `json:"until"`
	Harvests []EndedNews   `json:"harvests_ended"`
	Refused  []RefusedSite `json:"sites_refused"`           // the first of them
	Refusals int           `json:"sites_refused_in_all"`    // how many there are
	Review   int           `json:"waiting_for_review"`      // matches
	Filled   bool          `json:"review_queue_is_full"`    // so many now that somebody is to look
	Enough   int           `json:"review_queue_is_full_at"` // from so many on; 0 is never
}

// EndedNews is a harvest that ended.
type EndedNews struct {
	Harvest string        `json:"harvest"`
	Stage   gleaner.Stage `json:"stage"` // complete, cancelled or failed
	Note    string        `json:"note,omitempty"`
	Counts  Counts        `json:"counts"`
	New     struct {
		Found   int `json:"found"`
		Lost    int `json:"lost"`
		Changed int `json:"changed"`
	} `json:"new"` // since it was last begun
}

// RefusedSite is a site that did not let itself be crawled.
type RefusedSite struct {
	Host   string `json:"host"`
	Reason string `json:"reason"`
}

// Empty reports whether there is nothing to tell.
func (n News) Empty() bool { return len(n.Harvests) == 0 && n.Refusals == 0 && !n.Filled }

// mostRefused bounds the refused sites that news name.
const mostRefused = 50

// settleTime is how old what happened must be to be news: by then everything that
// began before it is committed.
const settleTime = time.Minute

// News gathers what happened since what a channel was told last. The review queue is
// full where enough matches wait, fewer did so when the channel was told last, and
// enough is not 0. A channel that was never told anything is told what comes. Until
// the news are noticed they end where they ended first: a receiver that has them
// already, and was not heard, passes over what comes again under their name.
func (db HarvestRecords) News(ctx context.Context, channel string, enough int) (News, error) {
	n := News{Enough: enough}
	before := 0
	err := db.Pool.QueryRow(ctx, `INSERT INTO chores AS c (name, last, result, claimed_until) VALUES ($1, now() - $2::interval, '0', now() - $2::interval)
		ON CONFLICT (name) DO UPDATE SET claimed_until = CASE WHEN c.claimed_until > c.last THEN c.claimed_until ELSE greatest(c.last, now() - $2::interval) END
		RETURNING last, result::int, claimed_until`, noticeChore(channel), settleTime).Scan(&n.Since, &before, &n.Until)
	if err != nil {
		return n, err
	}
	if n.Review, err = Get[int](ctx, db, `SELECT count(*) FROM matches m WHERE `+waitsForReview()); err != nil {
		return n, err
	}
	n.Filled = enough > 0 && n.Review >= enough && before < enough
	const refused = ` FROM sites WHERE state='refused' AND crawl_finished > $1 AND crawl_finished <= $2`
	if n.Refused, err = List[RefusedSite](ctx, db, `SELECT host, reason`+refused+` ORDER BY host COLLATE "C" LIMIT $3`, n.Since, n.Until, mostRefused); err != nil {
		return n, err
	}
	if n.Refusals, err = Get[int](ctx, db, `SELECT count(*)`+refused, n.Since, n.Until); err != nil {
		return n, err
	}
	n.Harvests, err = db.endedBetween(ctx, n.Since, n.Until)
	return n, err
}

func (db HarvestRecords) endedBetween(ctx context.Context, since, until time.Time) ([]EndedNews, error) {
	all, err := List[Harvest](ctx, db, `SELECT `+harvestColumns+` FROM harvests WHERE completed_at > $1 AND completed_at <= $2 ORDER BY completed_at, id`, since, until)
	if err != nil {
		return nil, err
	}
	out := make([]EndedNews, len(all))
	for i, h := range all {
		out[i] = EndedNews{Harvest: h.ID, Stage: h.Stage, Note: h.Note}
		if out[i].Counts, err = db.HarvestCounts(ctx, h.ID); err != nil {
			return nil, err
		}
		changes, err := db.Changes(ctx, h, h.StartedAt)
		if err != nil {
			return nil, err
		}
		of := each.By(changes, func(c Change) string { return c.What })
		out[i].New.Found, out[i].New.Lost, out[i].New.Changed = len(of["found"]), len(of["lost"]), len(of["changed"])
	}
	return out, nil
}

// Noticed notes that a channel was told news, or that there were none.
func (db HarvestRecords) Noticed(ctx context.Context, channel string, n News) error {
	return unlessNone(errors.New("store: nothing is known of the channel " + channel))(db.Pool.Exec(ctx,
		`UPDATE chores SET last=$2, result=to_jsonb($3::int) WHERE name=$1`, noticeChore(channel), n.Until, n.Review))
}

func noticeChore(channel string) string { return "notice " + channel }

// waitsForReview is true of a match m that waits for a person's word, and whose paper
// was not found otherwise.
func waitsForReview() string {
	return `m.settled='' AND m.verdict='ambiguous'
		AND NOT EXISTS (SELECT 1 FROM matches o WHERE o.paper_key=m.paper_key AND ` + foundIn("o") + `)`
}

// Chore is what one process of all does for all, every so often.
type Chore struct {
	Name   string
	Every  time.Duration // from its end to its next beginning
	Within time.Duration // then it is broken off, and anybody may take it on
}

// Chore does c where it is due and nobody is at it, and keeps what it brought (nil
// leaves what it brought before); ran says whether it was done here. Whoever
// claims its row does it, so no connection is held meanwhile. One that fails is
// due again when its time is up, one that is broken off by the end of ctx at once.
func (db CrawlRecords) Chore(ctx context.Context, c Chore, do func(context.Context) (result any, err error)) (ran bool, err error) {
	// The time begins before the claim, so that it is up here before it is there.
	within, cancel := context.WithTimeout(ctx, c.Within)
	defer cancel()
	until, err := Get[time.Time](within, db, `INSERT INTO chores AS c (name, claimed_until) VALUES ($1, now() + $3)
		ON CONFLICT (name) DO UPDATE SET claimed_until = EXCLUDED.claimed_until WHERE c.last <= now() - $2::interval AND c.claimed_until <= now()
		RETURNING claimed_until`, c.Name, c.Every, c.Within)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("store: chore %s: %w", c.Name, err)
	}
	result, err := do(within)
	if err != nil {
		if result = nil; ctx.Err() == nil {
			return true, err
		}
	}
	told, cancelTold := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancelTold()
	_, settled := db.Pool.Exec(told, `UPDATE chores SET claimed_until = '-infinity', last = CASE WHEN $3 THEN clock_timestamp() ELSE last END, result = coalesce($4::jsonb, result)
		WHERE name = $1 AND claimed_until = $2`, c.Name, until, err == nil, result)
	return true, errors.Join(err, settled)
}
