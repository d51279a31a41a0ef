package metadata

import (
	"context"
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"

	"gleaner/internal/gleaner"
)

// venueIndex is what a venue's index page says.
type venueIndex struct {
	key     string
	title   string // as the page calls the venue
	volumes []Volume
	others  []Volume // volumes of other venues to which the page points
}

// elsewhere names the other venues' volumes of the years.
func (ix venueIndex) elsewhere(years gleaner.Years) []string {
	var out []string
	for _, v := range ix.others {
		if v.Years.From > 0 && years.Meet(v.Years) {
			out = append(out, v.TOC)
		}
	}
	return out
}

// indexPage reads db/<key>/index.xml. Two shapes occur, often on one page:
//
//	<dblpcites><r><proceedings>…<year>2003</year>…<url>db/conf/x/x2003.html</url>
//	<ul><li>Volume 10: 1999 <ref href="db/journals/x/x10.html">…</ref></li></ul>
//
// Names of volumes are irregular (x2003a, x98, another venue's folder), so the
// year is never read from a path: it is the record's, or the one written in the
// reference, its list item or the heading above, in this order.
func (b base) indexPage(ctx context.Context, key string) (venueIndex, error) {
	var ix venueIndex
	err := b.page(ctx, "db/"+key+"/index.xml", func(body []byte) (err error) {
		ix, err = parseIndex(body, key)
		return err
	})
	return ix, err
}

func parseIndex(body []byte, key string) (venueIndex, error) {
	p := indexParser{ix: venueIndex{key: key}, seen: map[string]bool{}}
	err := walk(body, p.record, p.open, func(tok xml.Token) {
		switch tok := tok.(type) {
		case xml.EndElement:
			p.close(tok.Name.Local)
		case xml.CharData:
			if p.inItem {
				p.item.Write(tok)
			}
		}
	})
	if err == nil && !p.rooted {
		err = errBreaksOff
	}
	return p.ix, err
}

type indexParser struct {
	ix      venueIndex
	seen    map[string]bool
	rooted  bool
	heading gleaner.Years // what the heading above says
	inItem  bool
	item    strings.Builder // the item's text outside of references, up to here
	pending []Volume        // references of the item that carry no year themselves
}

// open handles an element's begin; it reports whether the element is still open.
func (p *indexParser) open(d *xml.Decoder, el xml.StartElement) (bool, error) {
	switch name := el.Name.Local; {
	case name == "bht":
		p.rooted = true
		p.ix.title = cleanTitle(attr(el, "title"))
	case name == "h1" || name == "h2" || name == "h3" || name == "h4":
		var text rich
		if err := d.DecodeElement(&text, &el); err != nil {
			return false, err
		}
		p.heading = yearsIn(string(text))
		return false, nil
	case name == "li" || name == "p":
		p.flush()
		p.inItem = true
	case name == "ref":
		var text rich
		href := attr(el, "href")
		if err := d.DecodeElement(&text, &el); err != nil {
			return false, err
		}
		p.reference(href, string(text))
		return false, nil
	}
	return true, nil
}

func (p *indexParser) close(name string) {
	switch name {
	case "li", "p", "ul":
		p.flush()
		p.inItem = false
	}
}

// record takes a volume from a record of it, or from a paper listed directly.
func (p *indexParser) record(r record) {
	toc := r.tocOf()
	if toc == "" {
		return
	}
	v := Volume{Venue: p.ix.key, TOC: toc, Years: single(r.year)}
	if r.kind == "proceedings" || r.kind == "book" {
		v.Key, v.Title = r.key, cleanTitle(r.title)
	}
	p.add(v) // the index of a venue lists its own volumes wherever they are filed
}

func (p *indexParser) reference(href, text string) {
	toc := tocPath(href)
	if toc == "" {
		return
	}
	v := Volume{Venue: p.ix.key, TOC: toc, Title: cleanTitle(text), Years: yearsIn(text)}
	if !strings.HasPrefix(toc, "db/"+p.ix.key+"/") {
		if v.Years.From == 0 {
			v.Years = p.heading
		}
		p.ix.others = append(p.ix.others, v)
		return
	}
	if v.Years.From == 0 && p.inItem {
		// "2004: Volume 20, 21": the year may stand before or after.
		p.pending = append(p.pending, v)
		return
	}
	p.add(v)
}

// flush ends a list item, whose years are those of its references.
func (p *indexParser) flush() {
	years := yearsIn(p.item.String())
	for _, v := range p.pending {
		v.Years = years
		p.add(v)
	}
	p.pending = nil
	p.item.Reset()
}

// add adds a volume; one without a year has that of the heading above.
func (p *indexParser) add(v Volume) {
	if p.seen[v.TOC] {
		return
	}
	if v.Years.From == 0 {
		v.Years = p.heading
	}
	p.seen[v.TOC] = true
	p.ix.volumes = append(p.ix.volumes, v)
}

func attr(el xml.StartElement, name string) string {
	for _, a := range el.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func single(year int) gleaner.Years { return gleaner.Years{From: year, To: year} }

var yearRE = regexp.MustCompile(`\b(1[89]\d\d|20\d\d)(?:\s*[/–-]\s*(\d{4}|\d{2}))?\b`)

// yearsIn reads the year or span of years in a heading or reference. The last
// one counts: "Volume 1999: 2003" is a volume of 2003.
func yearsIn(s string) gleaner.Years {
	all := yearRE.FindAllStringSubmatch(s, -1)
	if len(all) == 0 {
		return gleaner.Years{}
	}
	m := all[len(all)-1]
	from, _ := strconv.Atoi(m[1])
	to := from
	switch len(m[2]) {
	case 4:
		to, _ = strconv.Atoi(m[2])
	case 2:
		yy, _ := strconv.Atoi(m[2])
		to = from/100*100 + yy
		if to < from { // 1999/00
			to += 100
		}
	}
	if to < from || to > from+5 {
		return single(from)
	}
	return gleaner.Years{From: from, To: to}
}
