package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/web/weburl"
)

// ScopeHost is the scope, in a harvest's options, of a whole host. Every other is the path
// of a homepage or, of a site that a person named, its directory.
const ScopeHost = "host"

// inScope tells the documents of the site that a harvest is of, by URL and parent, from
// what others find on the same host. It is nil where all on its sites are its own.
func (h Harvest) inScope() func(url, parent string) bool {
	site := gleaner.ParseGoal(h.Venue).Site
	var options struct {
		Scope string `json:"scope"`
	}
	if site == "" || json.Unmarshal(h.Options, &options) == nil && options.Scope == ScopeHost {
		return nil
	}
	in := []string{weburl.DirectoryPrefix(site)}
	return func(url, parent string) bool {
		return weburl.Host(url) != weburl.Host(site) || weburl.InScope(url, in) || weburl.InScope(parent, in)
	}
}

// countInScope counts the documents of a site's harvest anew, without those that others
// found on its host.
func (db HarvestRecords) countInScope(ctx context.Context, id string, c *Counts) error {
	if gleaner.ParseGoal(id).Site == "" {
		return nil // its counts are asked for often
	}
	h, err := db.FindHarvest(ctx, id)
	if errors.Is(err, ErrNoHarvest) {
		return nil
	}
	in := h.inScope()
	if err != nil || in == nil {
		return err
	}
	type place struct{ SHA256, State, URL, Parent string }
	places, err := List[place](ctx, db, `SELECT d.sha256, CASE WHEN d.state='new' AND d.outcome IN `+putOff+` THEN 'scan' ELSE d.state END, l.url, l.parent FROM documents d JOIN locations l ON l.sha256=d.sha256
		JOIN harvest_sites hs ON hs.site_id=l.site_id WHERE hs.harvest_id=$1`, id)
	states := map[string]string{}
	for _, p := range places {
		if in(p.URL, p.Parent) {
			states[p.SHA256] = p.State
		}
	}
	c.Documents, c.Accepted, c.Unexamined, c.Scans = len(states), 0, 0, 0
	for _, state := range states {
		switch gleaner.DocumentState(state) {
		case gleaner.DocumentAccepted:
			c.Accepted++
		case gleaner.DocumentNew:
			c.Unexamined++
		case "scan":
			c.Unexamined, c.Scans = c.Unexamined+1, c.Scans+1
		}
	}
	return err
}

// AnswerOf says what the address of a site that a harvest is of answered where that was
// no page: "404, not-found". It is "" of a page, and of what was not asked yet.
func (db SiteRecords) AnswerOf(ctx context.Context, host string, hash []byte) (string, error) {
	said, err := Column[string](ctx, db, `SELECT concat_ws(', ', nullif(u.status, 0)::text, u.outcome) FROM urls u JOIN sites s ON s.id=u.site_id
		WHERE s.host=$1 AND u.hash=$2 AND u.state NOT IN (1, 2, 6) AND u.outcome NOT IN ('', 'ok')`, host, hash)
	return strings.Join(said, ""), err
}
