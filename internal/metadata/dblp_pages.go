package metadata

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html/charset"

	"gleaner/internal/gleaner"
)

// xmlRecord is a record as the XML pages and the dump write it.
type xmlRecord struct {
	XMLName   xml.Name
	Key       string      `xml:"key,attr"`
	PublType  string      `xml:"publtype,attr"`
	Authors   []xmlPerson `xml:"author"`
	Title     rich        `xml:"title"`
	Year      string      `xml:"year"`
	Pages     string      `xml:"pages"`
	Booktitle string      `xml:"booktitle"`
	Journal   string      `xml:"journal"`
	EE        []xmlLink   `xml:"ee"`
	URL       []xmlLink   `xml:"url"`
	Crossref  string      `xml:"crossref"`
	Notes     []xmlNote   `xml:"note"`
}

type xmlPerson struct {
	PID   string `xml:"pid,attr"`
	ORCID string `xml:"orcid,attr"`
	Name  string `xml:",chardata"`
}

type xmlLink struct {
	Type string `xml:"type,attr"`
	URL  string `xml:",chardata"`
}

type xmlNote struct {
	Type  string `xml:"type,attr"`
	Label string `xml:"label,attr"`
	Text  string `xml:",chardata"`
}

// rich is text with inline markup (<i>, <sub>, …), of which the text is kept.
type rich string

func (t *rich) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	var b strings.Builder
	for depth := 1; depth > 0; {
		tok, err := d.Token()
		if err != nil {
			return err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			b.Write(tok)
		}
	}
	*t = rich(b.String())
	return nil
}

func (x xmlRecord) record() record {
	r := record{
		kind: x.XMLName.Local, key: x.Key, publtype: x.PublType, title: string(x.Title),
		year: atoi(x.Year), pages: x.Pages, booktitle: x.Booktitle + x.Journal,
	}
	for _, a := range x.Authors {
		r.authors = append(r.authors, gleaner.Author{PID: a.PID, Name: a.Name})
	}
	for _, l := range x.EE {
		r.ee = append(r.ee, l.URL)
	}
	if len(x.URL) > 0 {
		r.url = strings.TrimSpace(x.URL[0].URL)
	}
	return r
}

// newDecoder reads XML as it is found in the wild: any character set, the
// entities of HTML (which are those of dblp.dtd), and more where given.
func newDecoder(r io.Reader, entities map[string]string) *xml.Decoder {
	d := xml.NewDecoder(r)
	d.Strict = false
	d.CharsetReader = charset.NewReaderLabel
	d.Entity = xml.HTMLEntity
	if entities != nil {
		d.Entity = entities
	}
	return d
}

// page fetches one of DBLP's XML pages and has it read.
func (b base) page(ctx context.Context, path string, read func(body []byte) error) error {
	return b.svc.markup(ctx, b.url+"/"+path, maxStreamed, read)
}

// errBreaksOff is said of a page that is not whole, so that a list is never cut silently.
var errBreaksOff = errors.New("the page breaks off")

// walk goes through an XML page. It calls each for the records (the children of <r>), open
// for the begin of any other element, which reports whether it left that open, and rest for
// what follows: ends of elements and the text between.
func walk(body []byte, each func(record), open func(*xml.Decoder, xml.StartElement) (bool, error), rest func(xml.Token)) error {
	d := newDecoder(bytes.NewReader(body), nil)
	depth, begun, inR := 0, false, false
	for {
		tok, err := d.Token()
		if err == io.EOF && (depth != 0 || !begun) {
			return errBreaksOff
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch el := tok.(type) {
		case xml.StartElement:
			if inR {
				var x xmlRecord
				if err := d.DecodeElement(&x, &el); err != nil {
					return err
				}
				each(x.record())
				continue
			}
			inside, err := open(d, el)
			if err != nil {
				return err
			}
			if inside {
				depth, begun, inR = depth+1, true, el.Name.Local == "r"
			}
			continue
		case xml.EndElement:
			depth, inR = depth-1, false // within <r>, elements are read whole
		}
		rest(tok)
	}
}

// volumePage reads a volume's own page, which needs no search service.
func (b base) volumePage(ctx context.Context, toc string) ([]record, error) {
	var out []record
	err := b.page(ctx, toc+".xml", func(body []byte) error {
		err := walk(body, func(r record) {
			if len(out) <= maxRecords {
				out = append(out, r)
			}
		}, func(*xml.Decoder, xml.StartElement) (bool, error) { return true, nil }, func(xml.Token) {})
		if len(out) > maxRecords {
			return ErrTooMuch{"records of a volume", maxRecords}
		}
		return err
	})
	return out, err
}
