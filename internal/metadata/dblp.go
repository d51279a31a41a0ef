package metadata

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// DBLP lists venues, volumes, papers and people as dblp.org knows them. There
// are four ways to its data, tried in this order: the search service (exact
// volume lists, with person ids), the same on the mirror, the pages in XML, and
// a local copy of the dump. The search service is out for weeks at times while
// the pages answer, so a way that failed is left alone for a while.
type DBLP struct {
	bases []base // the main site, then the mirror
	dump  string
	log   *slog.Logger
	ways  breaker

	dumpMu   sync.Mutex
	dumpLast dumpVenue // guarded by dumpMu
}

type base struct {
	url string
	svc *service
}

// NewDBLP returns a client for cfg's DBLP, its mirror and its dump.
func NewDBLP(cfg Config) *DBLP {
	cfg = cfg.withDefaults()
	d := &DBLP{dump: cfg.DumpPath, log: cfg.Log, ways: breaker{log: cfg.Log, rest: cfg.Rest, states: map[string]*wayState{}}}
	add := func(name, url string) {
		svc := newService(cfg, name, cfg.Delays.DBLP)
		// There are other ways: no use in insisting on this one.
		svc.retries = min(svc.retries, 2)
		d.bases = append(d.bases, base{strings.TrimSuffix(url, "/"), svc})
	}
	add("DBLP", cfg.DBLPURL)
	if cfg.DBLPMirrorURL != "-" && cfg.DBLPMirrorURL != cfg.DBLPURL {
		add("DBLP's mirror", cfg.DBLPMirrorURL)
	}
	return d
}

// advised names the dump where DBLP could not be asked and no dump is set: the dump
// serves for volumes and people, not for searches.
func (d *DBLP) advised(err error) error {
	if d.dump != "" || !is[ErrUnavailable](err) {
		return err
	}
	return fmt.Errorf("%w; a local copy of dblp.xml.gz would serve instead", err)
}

// OnRetry calls do before each repeated request. It is set before the first request.
func (d *DBLP) OnRetry(do func(why string)) {
	for _, b := range d.bases {
		b.svc.retrying = do
	}
}

func (d *DBLP) Name() string { return "dblp" }

// List returns every paper of the venue in the years, in the order of the index. It reports
// how many volumes it has listed. ErrNoVolume if the index lists nothing for the years.
func (d *DBLP) List(
	ctx context.Context, v gleaner.Venue, years gleaner.Years, report func(done, of int),
) ([]gleaner.Paper, error) {
	volumes, ix, err := d.volumes(ctx, v.Key, years)
	if err != nil {
		return nil, err
	}
	var papers []gleaner.Paper
	seen := map[string]bool{}
	for i, vol := range volumes {
		report(i, len(volumes))
		list, err := d.Papers(ctx, vol)
		if is[ErrNoVolume](err) {
			// The index announces volumes whose contents are not entered yet.
			d.log.WarnContext(ctx, "a volume in the index has no contents", "venue", v.Key, "toc", vol.TOC)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("volume %s: %w", vol.TOC, err)
		}
		for _, p := range list {
			if !seen[p.Key] && years.Contains(p.Year) {
				seen[p.Key] = true
				papers = append(papers, p)
			}
		}
	}
	if len(papers) == 0 {
		return nil, noVolume(v.Key, years, ix.volumes, ix.elsewhere(years))
	}
	return papers, nil
}

// Volumes lists the venue's volumes that the index gives to the years, and those
// for which it names no year, newest first as DBLP has them. ErrUnknownVenue if
// there is no such venue, ErrNoVolume if nothing is listed for the years.
func (d *DBLP) Volumes(ctx context.Context, key string, years gleaner.Years) ([]Volume, error) {
	out, _, err := d.volumes(ctx, key, years)
	return out, err
}

func (d *DBLP) volumes(ctx context.Context, key string, years gleaner.Years) ([]Volume, venueIndex, error) {
	ix, err := d.index(ctx, key)
	if err != nil {
		return nil, ix, err
	}
	out := each.Where(ix.volumes, func(vol Volume) bool { return years.Meet(vol.Years) })
	if len(out) == 0 {
		return nil, ix, noVolume(key, years, ix.volumes, ix.elsewhere(years))
	}
	return out, ix, nil
}

func noVolume(key string, years gleaner.Years, listed []Volume, seeAlso []string) error {
	var there []int
	for _, v := range listed {
		there = append(there, v.Years.All()...)
	}
	return ErrNoVolume{Venue: key, Years: years, Listed: gleaner.YearsOf(there...), SeeAlso: seeAlso}
}

// Papers lists a volume's papers in its own order, without editorship, front
// matter and withdrawn items. ErrNoVolume if there is no such volume.
func (d *DBLP) Papers(ctx context.Context, vol Volume) ([]gleaner.Paper, error) {
	records, err := first(ctx, &d.ways, d.contentWays(vol))
	if err != nil {
		return nil, d.advised(err)
	}
	papers, dropped := papersOf(records, vol)
	if dropped > 0 {
		d.log.DebugContext(ctx, "records that are no papers", "toc", vol.TOC, "dropped", dropped, "papers", len(papers))
	}
	return papers, nil
}

// contentWays returns the ways to a volume's records.
func (d *DBLP) contentWays(vol Volume) []way[[]record] {
	none := ErrNoVolume{Venue: vol.Venue, TOC: vol.TOC, Years: vol.Years}
	return slices.Concat(
		at(d, "search", func(ctx context.Context, b base) ([]record, error) { return b.searchVolume(ctx, vol.TOC) }),
		at(d, "pages", func(ctx context.Context, b base) ([]record, error) {
			records, err := b.volumePage(ctx, vol.TOC)
			if is[ErrNotFound](err) {
				err = none
			}
			return records, err
		}),
		inDump(d, func(ctx context.Context) ([]record, error) {
			records, err := d.volumeFromDump(ctx, vol)
			if err == nil && len(records) == 0 {
				err = none
			}
			return records, err
		}))
}

// at returns the ways that ask each of DBLP's sites, the main one first.
func at[T any](d *DBLP, what string, ask func(context.Context, base) (T, error)) []way[T] {
	return each.Of(d.bases, func(b base) way[T] {
		return way[T]{what + " at " + b.url, func(ctx context.Context) (T, error) { return ask(ctx, b) }}
	})
}

// inDump returns the way through the dump, or none without a dump.
func inDump[T any](d *DBLP, ask func(context.Context) (T, error)) []way[T] {
	if d.dump == "" {
		return nil
	}
	return []way[T]{{"dump", ask}}
}

// index fetches the index of a venue.
func (d *DBLP) index(ctx context.Context, key string) (venueIndex, error) {
	ix, err := first(ctx, &d.ways, append(
		at(d, "pages", func(ctx context.Context, b base) (venueIndex, error) { return b.indexPage(ctx, key) }),
		inDump(d, func(ctx context.Context) (venueIndex, error) { return d.volumesFromDump(ctx, key) })...))
	if is[ErrNotFound](err) {
		return ix, ErrUnknownVenue{Name: key}
	}
	return ix, d.advised(err)
}

// Person looks a person up by pid ("233/1453"). Without the pages it takes a
// pass through the dump; for many people, Persons takes one for all.
func (d *DBLP) Person(ctx context.Context, pid string) (gleaner.Person, error) {
	p, err := first(ctx, &d.ways, append(d.personPages(pid), inDump(d, func(ctx context.Context) (gleaner.Person, error) {
		found, err := d.personsFromDump(ctx, []string{pid})
		p, ok := found[pid]
		if err == nil && !ok {
			err = ErrNotFound{dumpName, pid}
		}
		return p, err
	})...))
	return p, d.advised(err)
}

// Persons looks many people up, one page each, until the pages fail: the rest is
// then found in one pass through the dump. Unknown pids are absent. On an error
// the people found so far are returned with it.
func (d *DBLP) Persons(ctx context.Context, pids []string) (map[string]gleaner.Person, error) {
	out := map[string]gleaner.Person{}
	for i, pid := range pids {
		p, err := first(ctx, &d.ways, d.personPages(pid))
		switch {
		case err == nil:
			out[pid] = p
		case is[ErrNotFound](err):
		case is[ErrUnavailable](err) && d.dump != "":
			found, err := d.personsFromDump(ctx, pids[i:])
			maps.Copy(out, found)
			return out, err
		default:
			return out, err
		}
	}
	return out, nil
}

func (d *DBLP) personPages(pid string) []way[gleaner.Person] {
	return at(d, "pages", func(ctx context.Context, b base) (gleaner.Person, error) {
		return b.personPage(ctx, pid, func(record) {})
	})
}
