package metadata

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
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

// eachRecord calls f for the records (the children of <r>) of an XML page. A
// page that breaks off is an error, so that a list is never cut silently.
func eachRecord(body []byte, f func(xmlRecord)) error {
	d := newDecoder(bytes.NewReader(body), nil)
	inR, roots, closed := false, 0, 0
	for {
		tok, err := d.Token()
		if err == io.EOF {
			if roots == 0 || closed < roots {
				return fmt.Errorf("the page breaks off")
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			switch {
			case tok.Name.Local == "r":
				inR = true
			case inR:
				var x xmlRecord
				if err := d.DecodeElement(&x, &tok); err != nil {
					return err
				}
				f(x)
				continue
			}
			roots++
		case xml.EndElement:
			closed++
			if tok.Name.Local == "r" {
				inR = false
			}
		}
	}
}

// volumePage reads a volume's own page, which needs no search service.
func (b base) volumePage(ctx context.Context, toc string) ([]record, error) {
	var out []record
	err := b.page(ctx, toc+".xml", func(body []byte) error {
		err := eachRecord(body, func(x xmlRecord) {
			if len(out) <= maxRecords {
				out = append(out, x.record())
			}
		})
		if len(out) > maxRecords {
			return ErrTooMuch{"records of a volume", maxRecords}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
