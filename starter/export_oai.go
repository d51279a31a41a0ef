package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/library/repository"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// oaiFile is what an OAI-PMH static repository says of itself.
type oaiFile struct {
	name  string // of what is exported
	base  string // address that its gateway gives it
	host  string // of that address
	admin string // e-mail address
}

// oaiOf checks what --base-url and the contact are for.
func oaiOf(name, base, contact string) (oaiFile, error) {
	u, err := url.Parse(base)
	who, none := mail.ParseAddress(strings.TrimPrefix(contact, "mailto:"))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return oaiFile{}, fmt.Errorf("%w: --format oai wants --base-url: the address at which a gateway of OAI-PMH gives the file out, such as https://gateway.example/oai/library.example/webdb.xml", program.ErrUsage)
	case none != nil:
		return oaiFile{}, fmt.Errorf("%w: --format oai wants an e-mail address of who keeps it (setting contact)",
			program.ErrUsage)
	}
	return oaiFile{name: name, base: base, host: u.Hostname(), admin: who.Address}, nil
}

// oaiRecord is a paper or page in unqualified Dublin Core.
type oaiRecord struct {
	XMLName    xml.Name `xml:"oai:record"`
	Identifier string   `xml:"oai:header>oai:identifier"`
	Datestamp  string   `xml:"oai:header>oai:datestamp"`
	DC         oaiDC    `xml:"oai:metadata>oai_dc:dc"`
}

type oaiDC struct {
	Space      string   `xml:"xmlns:oai_dc,attr"`
	Elements   string   `xml:"xmlns:dc,attr"`
	Location   string   `xml:"xsi:schemaLocation,attr"`
	Title      string   `xml:"dc:title,omitempty"`
	Creator    []string `xml:"dc:creator,omitempty"`
	Subject    []string `xml:"dc:subject,omitempty"`
	Date       string   `xml:"dc:date,omitempty"`
	Type       string   `xml:"dc:type"`
	Format     string   `xml:"dc:format,omitempty"`
	Identifier []string `xml:"dc:identifier,omitempty"`
	Source     string   `xml:"dc:source,omitempty"`
}

const oaiHead = xml.Header + `<Repository xmlns="http://www.openarchives.org/OAI/2.0/static-repository" xmlns:oai="http://www.openarchives.org/OAI/2.0/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/static-repository http://www.openarchives.org/OAI/2.0/static-repository.xsd">
<Identify>
<oai:repositoryName>%s</oai:repositoryName>
<oai:baseURL>%s</oai:baseURL>
<oai:protocolVersion>2.0</oai:protocolVersion>
<oai:adminEmail>%s</oai:adminEmail>
<oai:earliestDatestamp>%s</oai:earliestDatestamp>
<oai:deletedRecord>no</oai:deletedRecord>
<oai:granularity>YYYY-MM-DD</oai:granularity>
</Identify>
<ListMetadataFormats>
<oai:metadataFormat>
<oai:metadataPrefix>oai_dc</oai:metadataPrefix>
<oai:schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd</oai:schema>
<oai:metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</oai:metadataNamespace>
</oai:metadataFormat>
</ListMetadataFormats>
<ListRecords metadataPrefix="oai_dc">
`

// write writes found papers as a static repository of OAI-PMH 2.0, each once. topics says
// that they were matched by topics, which are their subjects.
func (o oaiFile) write(w io.Writer, found []store.Exported, topics bool) error {
	at := map[string]int{}
	var records []oaiRecord
	for _, f := range found {
		r := o.record(f)
		if topics {
			r.DC.Subject = []string{f.MatchedBy}
		}
		if i, had := at[r.Identifier]; had { // an entry of more collections, or another file of a paper
			records[i].merge(r)
			continue
		}
		at[r.Identifier] = len(records)
		records = append(records, r)
	}
	earliest := time.Now().UTC().Format(time.DateOnly)
	for _, r := range records {
		earliest = min(earliest, r.Datestamp)
	}
	_, err := fmt.Fprintf(w, oaiHead, escaped("Gleaner: "+o.name), escaped(o.base), escaped(o.admin), earliest)
	if err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	for _, r := range records {
		if err := enc.Encode(r); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "</ListRecords>\n</Repository>\n")
	return err
}

// merge adds what another entry says of the same.
func (r *oaiRecord) merge(other oaiRecord) {
	r.Datestamp = max(r.Datestamp, other.Datestamp)
	r.DC.Subject = each.Distinct(math.MaxInt, r.DC.Subject, other.DC.Subject)
	r.DC.Identifier = each.Distinct(math.MaxInt, r.DC.Identifier, other.DC.Identifier)
}

// record dates an entry by what came last of it: who harvests by date has not seen a
// document that was found long ago and is known to be a paper since today.
func (o oaiFile) record(f store.Exported) oaiRecord {
	changed := f.FetchedAt
	if f.ChangedAt.After(changed) {
		changed = f.ChangedAt
	}
	r := oaiRecord{Identifier: o.identifier(f.Identity), Datestamp: changed.UTC().Format(time.DateOnly)}
	r.DC = oaiDC{Space: "http://www.openarchives.org/OAI/2.0/oai_dc/", Elements: "http://purl.org/dc/elements/1.1/",
		Location: "http://www.openarchives.org/OAI/2.0/oai_dc/ http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
		Title:    f.Title, Type: "Text", Format: repository.MediaType(repository.Extension(f.Kind)), Source: f.VenueName, Date: biblio.Year(f.Year), Creator: gleaner.Names(f.Authors), Identifier: append([]string{f.URL}, twinURLs(f)...)}
	if f.DOI != "" {
		r.DC.Identifier = append(r.DC.Identifier, "https://doi.org/"+f.DOI)
	}
	return r
}

// identifier is a name in the scheme "oai", below the host of the base address.
func (o oaiFile) identifier(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "oai:%s:", o.host)
	for _, c := range []byte(name) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.!~*'();/?:@&=+$,", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
