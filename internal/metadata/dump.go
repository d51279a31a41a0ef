package metadata

import (
	"bytes"
	"context"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// dumpVenue is what a dump holds of one venue.
type dumpVenue struct {
	key     string
	volumes map[string][]record // by table of contents
	order   []string            // tables of contents as they occur
}

// venue collects all records listed under a venue, with the pids of their
// authors, in two passes: the dump writes names, and the records of people, by
// which a name becomes a pid, stand anywhere in it.
func (d *dump) venue(ctx context.Context, key string) (dumpVenue, error) {
	v := dumpVenue{key: key, volumes: map[string][]record{}}
	listed := []byte(">db/" + key + "/")
	pids := map[string]string{}
	err := d.each(ctx, func(raw []byte) error {
		if !bytes.Contains(raw, listed) || bytes.HasPrefix(raw, []byte("<www")) {
			return nil
		}
		x, err := d.parse(raw)
		if err != nil {
			return err
		}
		r := x.record()
		if r.rawAuthors = rawAuthors(raw); len(r.rawAuthors) != len(r.authors) {
			r.rawAuthors = nil
		}
		for _, name := range r.rawAuthors {
			pids[name] = ""
		}
		v.add(r)
		return nil
	})
	if err != nil || len(v.order) == 0 {
		return v, err
	}
	if err := d.fillPIDs(ctx, pids); err != nil {
		return v, err
	}
	for _, records := range v.volumes {
		for _, r := range records {
			for i, name := range r.rawAuthors {
				r.authors[i].PID = pids[name]
			}
		}
	}
	return v, nil
}

func (v *dumpVenue) add(r record) {
	toc := r.tocOf()
	if toc == "" {
		return
	}
	if _, ok := v.volumes[toc]; !ok {
		v.order = append(v.order, toc)
	}
	v.volumes[toc] = append(v.volumes[toc], r)
}

var homepageKey = []byte(`key="homepages/`)

// fillPIDs finds the person behind each name as the dump writes it.
func (d *dump) fillPIDs(ctx context.Context, pids map[string]string) error {
	return d.each(ctx, func(raw []byte) error {
		pid := personOf(raw)
		if pid == "" {
			return nil
		}
		for _, name := range rawAuthors(raw) {
			if _, wanted := pids[name]; wanted {
				pids[name] = pid
			}
		}
		return nil
	})
}

// personOf is the pid of a person's record, or "".
func personOf(raw []byte) string {
	if !bytes.HasPrefix(raw, []byte("<www")) {
		return ""
	}
	tag, _, _ := bytes.Cut(raw, []byte(">"))
	_, rest, ok := bytes.Cut(tag, homepageKey)
	if !ok {
		return ""
	}
	pid, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(pid)
}

// Persons looks people up by pid, in one pass; unknown ones are absent. The dump
// knows no titles of theirs at that place, so Person.Titles stays empty.
func (d *dump) Persons(ctx context.Context, pids []string) (map[string]gleaner.Person, error) {
	wanted := each.Members(pids)
	out := map[string]gleaner.Person{}
	err := d.each(ctx, func(raw []byte) error {
		pid := personOf(raw)
		if !wanted[pid] {
			return nil
		}
		x, err := d.parse(raw)
		if err != nil {
			return err
		}
		p := gleaner.Person{Author: gleaner.Author{PID: pid}}
		describePerson(&p, x)
		out[pid] = p
		return nil
	})
	return out, err
}

// dumpOf returns what the dump knows of a venue. The last venue asked for is
// kept, since its volumes are asked for one after the other.
func (d *DBLP) dumpOf(ctx context.Context, key string) (dumpVenue, error) {
	d.dumpMu.Lock()
	defer d.dumpMu.Unlock()
	if d.dumpLast.key == key {
		return d.dumpLast, nil
	}
	dump, err := openDump(d.dump)
	if err != nil {
		return dumpVenue{}, err
	}
	d.log.InfoContext(ctx, "the dump is searched", "venue", key, "path", d.dump)
	v, err := dump.venue(ctx, key)
	if err != nil {
		return v, err
	}
	d.dumpLast = v
	return v, nil
}

func (d *DBLP) personsFromDump(ctx context.Context, pids []string) (map[string]gleaner.Person, error) {
	dump, err := openDump(d.dump)
	if err != nil {
		return nil, err
	}
	return dump.Persons(ctx, pids)
}

// volumeFromDump finds a volume's records in the dump.
func (d *DBLP) volumeFromDump(ctx context.Context, vol Volume) ([]record, error) {
	key := vol.Venue
	if dir := strings.TrimPrefix(vol.TOC[:max(0, strings.LastIndexByte(vol.TOC, '/'))], "db/"); dir != "" {
		key = dir // a volume filed under another venue
	}
	v, err := d.dumpOf(ctx, key)
	return v.volumes[vol.TOC], err
}

// volumesFromDump makes the list of volumes that the index page would give.
func (d *DBLP) volumesFromDump(ctx context.Context, key string) (venueIndex, error) {
	v, err := d.dumpOf(ctx, key)
	if err != nil {
		return venueIndex{}, err
	}
	if len(v.order) == 0 {
		return venueIndex{}, ErrNotFound{dumpName, key}
	}
	ix := venueIndex{key: key}
	for _, toc := range v.order {
		vol := Volume{Venue: key, TOC: toc}
		for _, r := range v.volumes[toc] {
			if r.kind == "proceedings" {
				vol.Key, vol.Title = r.key, cleanTitle(r.title)
			}
			if ix.title == "" && r.booktitle != "" {
				ix.title = r.booktitle
			}
			vol.Years = widen(vol.Years, r.year)
		}
		ix.volumes = append(ix.volumes, vol)
	}
	return ix, nil
}

func widen(y gleaner.Years, year int) gleaner.Years {
	switch {
	case year == 0:
	case y.From == 0:
		return single(year)
	default:
		y.From, y.To = min(y.From, year), max(y.To, year)
	}
	return y
}
