package store

import (
	"context"
	"fmt"
	"time"
)

// Pace is how often a site is asked, and who set that. It is what was decided at
// the last request, as the record has it.
type Pace struct {
	Seconds float64    `json:"seconds"`         // between an answer and the next request
	By      string     `json:"by,omitempty"`    // fetch.BySetting and its like; "" where nothing was asked yet
	Rest    string     `json:"rest,omitempty"`  // why it is left alone for longer: Retry-After or failures
	Until   *time.Time `json:"until,omitempty"` // how long it is, then
}

// paceColumns are the fields of a Pace, of a site s.
const paceColumns = `extract(epoch FROM s.pace)::float8, s.pace_by,
	CASE WHEN s.asked_until > now() AND s.asked_until > s.paced_until THEN 'Retry-After' WHEN s.failures > 0 AND greatest(s.next_allowed_at, s.parked_until) > now() THEN 'failures' ELSE '' END,
	CASE WHEN s.asked_until > now() AND s.asked_until > s.paced_until OR s.failures > 0 AND greatest(s.next_allowed_at, s.parked_until) > now()
		THEN greatest(s.next_allowed_at, s.asked_until, s.parked_until) END`

// fields are where paceColumns are read into.
func (p *Pace) fields() []any { return []any{&p.Seconds, &p.By, &p.Rest, &p.Until} }

// Words says a pace to a person: "every 1s (default)"; "" where nothing was asked
// of the site yet.
func (p Pace) Words() string {
	if p.By == "" {
		return ""
	}
	every := time.Duration(p.Seconds * float64(time.Second)).Round(time.Millisecond)
	s := fmt.Sprintf("every %s (%s)", every, p.By)
	if p.Until != nil {
		s += fmt.Sprintf(", not before %s (%s)", p.Until.Local().Format(time.DateTime), p.Rest)
	}
	return s
}

// SitePace is the pace of a site that is being crawled.
type SitePace struct {
	Host string `json:"host"`
	Pace `json:"pace"`
}

// SitePaces lists the sites of a harvest that are being crawled, by host.
func (db StatisticRecords) SitePaces(ctx context.Context, harvest string) ([]SitePace, error) {
	return List[SitePace](ctx, db, `SELECT s.host, `+paceColumns+` FROM sites s JOIN harvest_sites h ON h.site_id=s.id
		WHERE h.harvest_id=$1 AND s.state='crawling' ORDER BY s.host`, harvest)
}
