package metadata

import (
	"cmp"
	"context"
	"encoding/xml"
	"slices"

	"gleaner/internal/gleaner"
)

// maxPersonTitles bounds the titles kept with a person; the newest come first.
const maxPersonTitles = 100

// personPage reads /pid/<pid>.xml, and tells of each record on it.
func (b base) personPage(ctx context.Context, pid string, each func(record)) (gleaner.Person, error) {
	var p gleaner.Person
	err := b.page(ctx, "pid/"+pid+".xml", func(body []byte) (err error) {
		if p, err = parsePerson(body, each); err == nil {
			err = soundPerson(p)
		}
		return err
	})
	if err != nil {
		return gleaner.Person{}, err
	}
	p.Author.PID = cmp.Or(p.Author.PID, pid)
	return p, nil
}

// parsePerson reads a person's page. It also carries the records of namesakes
// and of co-authors, which are other people and passed over.
func parsePerson(body []byte, each func(record)) (gleaner.Person, error) {
	var p gleaner.Person
	err := walk(body, func(r record) {
		if each(r); len(p.Titles) < maxPersonTitles && r.isPaper() {
			p.Titles = append(p.Titles, cleanTitle(r.title))
		}
	}, func(d *xml.Decoder, el xml.StartElement) (bool, error) { return openPerson(&p, d, el) }, func(xml.Token) {})
	if err == nil && p.Author.Name == "" {
		err = errBreaksOff
	}
	return p, err
}

// appendOfPerson is appendNew for lists of a person, which it does not lengthen much beyond the
// limit: soundPerson refuses such a list.
func appendOfPerson(list []string, more ...string) []string {
	for _, s := range more {
		if len(list) <= maxOfAPerson {
			list = appendNew(list, s)
		}
	}
	return list
}

func appendNew(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
