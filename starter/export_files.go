package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/library/repository"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
)

// chosen are documents to be written out.
type chosen struct {
	shas   []string
	papers map[string]gleaner.Paper // by SHA-256, where a document is one
}

// ofExport are the found papers of a venue.
func ofExport(found []store.Exported, venueKey string) chosen {
	out := chosen{papers: map[string]gleaner.Paper{}}
	for _, f := range found {
		if _, twice := out.papers[f.SHA256]; twice || f.SHA256 == "" {
			continue // one file that is two papers is one file
		}
		out.shas = append(out.shas, f.SHA256)
		out.papers[f.SHA256] = gleaner.Paper{Key: f.Paper, Venue: cmp.Or(f.Venue, venueKey), Title: f.Title, Year: f.Year, Authors: f.Authors, DOI: f.DOI}
	}
	return out
}

// exportFiles copies documents out in a format.
func exportFiles(c *cli, ctx context.Context, a *app.App, format, out string, what chosen) error {
	n := 0
	progress := c.Progress("documents written")
	defer progress.End()
	done := func(repository.Exported) error { n++; progress.Count(n, len(what.shas)); return nil }
	var failed error
	items := what.items(ctx, a, &failed)
	var err error
	switch format {
	case "tree":
		err = a.Repo.ExportTree(ctx, out, items, done)
	case "citeseerx":
		err = a.Repo.ExportCiteSeerX(ctx, out, items, done)
	case "warc":
		err = program.WriteFile(out, func(w io.Writer) error { return a.Repo.ExportWARC(ctx, w, filepath.Base(out), items, done) })
	case "files":
		err = exportPlain(ctx, a, out, items, done)
	default:
		return fmt.Errorf("%w: --format is files, tree, citeseerx or warc, not %q", program.ErrUsage, format)
	}
	passed, err := what.passedOver(n, failed, err)
	if err != nil {
		return err
	}
	return errors.Join(c.Say(map[string]any{"documents": n, "format": format, "out": out}, "%s in %s\n", text.Count(n, "document"), out), passed)
}

// passedOver is failed, where that is only of documents whose files were pruned, with how many of them all; else
// the export is broken.
func (ch chosen) passedOver(written int, failed, err error) (passed, broken error) {
	if err != nil || failed != nil && !errors.Is(failed, store.ErrPruned) {
		return nil, errors.Join(err, failed)
	}
	if failed != nil {
		failed = fmt.Errorf("%d of %s were passed over:\n%w", len(ch.shas)-written, text.Count(len(ch.shas), "document"), failed)
	}
	return failed, nil
}

// written has documents written by readable names, which found has then, and counts them.
func (ch chosen) written(ctx context.Context, a *app.App, found []store.Exported,
	write func(iter.Seq[repository.Item], func(repository.Exported) error) error,
) (n int, passed, broken error) {
	at := map[string]string{} // by SHA-256
	var failed error
	err := write(ch.items(ctx, a, &failed), func(e repository.Exported) error {
		at[e.Item.SHA256] = e.Path
		return nil
	})
	for i := range found {
		found[i].Path = at[found[i].SHA256]
	}
	passed, broken = ch.passedOver(len(at), failed, err)
	return len(at), passed, broken
}

// exportWithFiles copies documents into a folder, by readable names, and beside them
// the list that names them.
func exportWithFiles(c *cli, ctx context.Context, a *app.App, f exportFlags, found []store.Exported, what chosen) error {
	list := filepath.Join(f.out, "papers"+listEndings[f.format])
	n, passed, err := what.written(ctx, a, found, func(items iter.Seq[repository.Item], done func(repository.Exported) error) error {
		return a.Repo.ExportTree(ctx, f.out, items, done)
	})
	if err != nil {
		return err
	}
	var papers bytes.Buffer
	err = cmp.Or(os.MkdirAll(f.out, 0o755), exportAs(&papers, f.format, found)) // no folder is there of nothing
	if err != nil {
		return err
	}
	if err := keepsPapers(c.Err, list, f.format, papers.Bytes()); err != nil {
		return err
	}
	if err := program.WriteFile(list, func(w io.Writer) error { _, err := papers.WriteTo(w); return err }); err != nil {
		return err
	}
	said := map[string]any{"documents": n, "papers": len(found), "format": f.format, "list": list}
	return errors.Join(c.Say(said, "%s in %s, with %s beside it\n", text.Count(len(found), "paper"), list, text.Count(n, "document")), passed)
}

// keepsPapers sets a list aside that names others than the papers that are to be written in
// its place.
func keepsPapers(w io.Writer, list, format string, papers []byte) error {
	old, err := os.ReadFile(list)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	had, _, _ := biblio.ReadSome(bytes.NewReader(old), biblio.Format(format))
	has, _, _ := biblio.ReadSome(bytes.NewReader(papers), biblio.Format(format))
	named := map[string]bool{}
	for _, p := range has {
		named[p.Title] = true
	}
	others := each.Where(had, func(p gleaner.Paper) bool { return !named[p.Title] })
	if len(others) == 0 {
		return nil
	}
	before := list + ".before"
	fmt.Fprintf(w, "hint: %s only in the list of before, now %s\n", text.CountIs(len(others), "paper"), before)
	return os.Rename(list, before)
}

// items reads what is known of each document as it is needed. An error ends the
// sequence and is left in failed, with the documents whose files were pruned.
func (ch chosen) items(ctx context.Context, a *app.App, failed *error) iter.Seq[repository.Item] {
	return func(yield func(repository.Item) bool) {
		for _, sha := range ch.shas {
			d, places, err := a.DB.Document(ctx, sha)
			if err != nil {
				*failed = err
				return
			}
			if d.Removed != nil {
				*failed = errors.Join(*failed, fmt.Errorf("%s: %w", sha, store.ErrPruned))
				continue
			}
			paper, ok := ch.papers[sha]
			if !ok {
				if paper, err = a.DB.PaperOf(ctx, sha); err != nil {
					*failed = err
					return
				}
			}
			it := itemOf(d, places, paper)
			if it.References, err = a.DB.ReferenceList(ctx, sha); err != nil {
				*failed = err
				return
			}
			if !yield(it) {
				return
			}
		}
	}
}

func itemOf(d store.Document, places []store.Location, paper gleaner.Paper) repository.Item {
	it := repository.Item{ID: d.ID, SHA256: d.SHA256, SHA1: d.SHA1, Paper: paper, Extension: repository.Extension(d.Kind),
		Discovered: d.Discovered}
	l := store.Location{}
	if len(places) > 0 {
		l = places[0]
		it.URL, it.ParentURL, it.FetchedAt = l.URL, l.Parent, l.Found
		it.Header = http.Header{}
		for k, v := range l.Header {
			it.Header.Set(k, v)
		}
	}
	it.Title = store.DocumentTitle(l.Anchor, d.FirstPages, d.MetaTitle)
	return it
}

// exportPlain writes documents by their names, with a list of them.
func exportPlain(ctx context.Context, a *app.App, out string, items iter.Seq[repository.Item], done func(repository.Exported) error) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var list bytes.Buffer
	enc := json.NewEncoder(&list)
	for it := range items {
		name := it.SHA256 + "." + it.Extension
		if err := enc.Encode(map[string]any{"file": name, "sha256": it.SHA256, "paper": it.Paper.Key, "title": it.Paper.Title, "url": it.URL,
			"parent_url": it.ParentURL, "discovered_at": it.Discovered, "header": it.Header}); err != nil {
			return err
		}
		err := program.WriteFile(filepath.Join(out, name), func(w io.Writer) error {
			rd, err := a.Repo.Get(ctx, it.SHA256)
			if err != nil {
				return err
			}
			defer rd.Close()
			_, err = io.Copy(w, rd)
			return err
		})
		if err == nil {
			err = done(repository.Exported{})
		}
		if err != nil {
			return err
		}
	}
	return program.WriteFile(filepath.Join(out, "documents.jsonl"), func(w io.Writer) error { _, err := list.WriteTo(w); return err })
}

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
		return oaiFile{}, fmt.Errorf("%w: --format oai wants an e-mail address of who keeps it (setting contact)", program.ErrUsage)
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
	r.DC.Subject = united(r.DC.Subject, other.DC.Subject)
	r.DC.Identifier = united(r.DC.Identifier, other.DC.Identifier)
}

func united(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
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
