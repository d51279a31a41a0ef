package main

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/console"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/library/repository"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
)

// TestExportsForReferenceManagers: what was found reads back as the paper that it is,
// with authors, DOI and the venue by the name that people know it by.
func TestExportsForReferenceManagers(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	ctx := t.Context()
	paper := gleaner.Paper{Key: "journals/exa/Roe03", Venue: "journals/exa", Year: 2003, Title: "Sorting {Measured} Examples", DOI: "10.5555/exa.1",
		Authors: []gleaner.Author{{PID: "1/1", Name: "Jane Roe"}, {PID: "1/2", Name: "Ada Poe"}}}
	require.NoError(t, c.SavePapers(ctx, []gleaner.Paper{paper}, nil))
	require.NoError(t, c.NameVenue(ctx, gleaner.Venue{Key: "journals/exa", Name: "EXA", Title: "Journal of Examples"}))
	c.accepted("ada.example", "roe.pdf")
	c.exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ($1, 'ada.exampleroe.pdf', 'exact', 1)`, paper.Key)
	for format, is := range map[string]biblio.Format{"bibtex": biblio.BibTeX, "ris": biblio.RIS} {
		out := c.ok("export", "journals/exa", "--format", format)
		back, _, err := biblio.Read(strings.NewReader(out), is)
		require.NoError(t, err)
		require.Len(t, back, 1)
		b := back[0]
		require.Equal(t, []any{"Journal of Examples", 2003, "10.5555/exa.1", []string{"Roe", "Poe"}, []string{"http://ada.example/roe.pdf"}},
			[]any{b.Venue, b.Year, b.DOI, b.Surnames(), b.Links}, out)
		require.Regexp(t, "@article|TY  - JOUR", out)
	}
	require.Contains(t, c.wrong(program.ExitUsage, "export", "journals/exa", "--format", "oai"), "--base-url")
	require.Contains(t, c.wrong(program.ExitUsage, "export", "journals/exa", "--format", "oai", "--base-url", "https://gate.example/exa.xml"), "contact")
	c.args = append(c.args, "--contact", "keeper@example.org")
	checkOAI(t, c.ok("export", "journals/exa", "--format", "oai", "--base-url", "https://gate.example/oai/exa.xml?a&b"))
	var listed []store.Listed
	require.NoError(t, c.SaveHarvest(ctx, store.Harvest{ID: "author:1/1", Venue: "author:1/1", Options: []byte("{}"), Stage: "papers"}))
	require.NoError(t, c.SetHarvestPapers(ctx, "author:1/1", []gleaner.Paper{paper}, nil))
	held := gleaner.Paper{Key: "journals/exa/Poe04", Venue: "journals/exa", Year: 2004, Title: "Held Examples", Authors: paper.Authors}
	require.NoError(t, c.SavePapers(ctx, []gleaner.Paper{held}, nil))
	require.NoError(t, c.SetHarvestPapers(ctx, "author:1/1", []gleaner.Paper{paper, held}, map[string]string{held.Key: "title"}))
	var hint strings.Builder
	require.NoError(t, notExported(ctx, c.DB, &hint, "author:1/1", 1))
	require.Contains(t, hint.String(), "no document of 1 of 2 papers published; what the library holds (1) is not looked for")
	for venue, n := range map[string]int{"journals/exa": 1, "author:1/1": 1, "author:1/2": 0} {
		c.read(&listed, "documents", "list", "--venue", venue)
		require.Len(t, listed, n, venue)
	}
	c.exec(`UPDATE documents SET refs=2, reference_list='{"[1] A. One.","[2] B. Two."}'`)
	rows, err := csv.NewReader(strings.NewReader(c.ok("export", "journals/exa", "--format", "csv"))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"authors", "doi", "venue", "venue_name", "references", "reference_list", "kind", "also"}, rows[0][10:])
	require.Equal(t, []string{"Jane Roe; Ada Poe", "10.5555/exa.1", "journals/exa", "Journal of Examples", "2",
		"[1] A. One. | [2] B. Two.", "pdf", ""}, rows[1][10:])
	var line map[string]any
	require.NoError(t, json.Unmarshal([]byte(c.ok("export", "journals/exa")), &line))
	require.ElementsMatch(t, slices.Collect(maps.Keys(line)), rows[0], "a table has what JSON Lines have")
	require.Contains(t, c.ok("export", "journals/exa", "--format", "csljson"), `"container-title": "Journal of Examples"`)
	require.Contains(t, c.ok("export", "journals/exa"), `"references":2,"reference_list":["[1] A. One.","[2] B. Two."]`)
}

// TestExportWithFiles: a reference manager finds each document where the list beside it
// says, also from another place.
func TestExportWithFiles(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	ctx, blobs, out := t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "webdb; new")
	c.args = append(c.args, "--repository-url", "file://"+blobs)
	repo, err := repository.Open(ctx, "file://"+blobs)
	require.NoError(t, err)
	t.Cleanup(func() { _ = repo.Close() })
	body := []byte("%PDF-1.4 roe")
	digest, err := repo.Put(ctx, body)
	require.NoError(t, err)
	sha := digest.SHA256
	require.NoError(t, c.SavePapers(ctx, []gleaner.Paper{{Key: "conf/exa/Roe03", Venue: "conf/exa", Year: 2003, Title: "Sorting: XML; 50 % {more}", Authors: []gleaner.Author{{PID: "1/1", Name: "Jane Roe"}}}}, nil))
	c.acceptedAs("ada.example", "roe.pdf", sha)
	c.exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('conf/exa/Roe03', $1, 'exact', 1)`, sha)

	const file = "exa/2003/Roe - Sorting XML; 50 % more.pdf"
	for format, names := range map[string]string{
		"bibtex": `file      = {:exa/2003/Roe - Sorting XML\; 50 % more.pdf:PDF},`, "ris": "L1  - exa/2003/Roe - Sorting XML; 50 % more.pdf\r\n",
		"csv": ",exa/2003/Roe - Sorting XML; 50 % more.pdf,", "jsonl": `"path":"exa/2003/Roe - Sorting XML; 50 % more.pdf"`} {
		require.Contains(t, c.ok("export", "conf/exa", "--format", format, "--files", "--out", out), "1 paper in")
		list, err := os.ReadFile(filepath.Join(out, "papers"+listEndings[format]))
		require.NoError(t, err)
		require.Contains(t, string(list), names)
	}
	list := filepath.Join(out, "papers.bib")
	more, err := os.ReadFile(list)
	require.NoError(t, err)
	more = append(more, "\n@misc{other, title = {Another Paper}}\n"...)
	for _, before := range []string{".before", ".before2"} {
		more = append(more, '\n')
		require.NoError(t, os.WriteFile(list, more, 0o600))
		c.ok("export", "conf/exa", "--format", "bibtex", "--files", "--out", out)
		kept, err := os.ReadFile(list + before)
		require.NoError(t, err)
		require.Equal(t, more, kept)
	}
	got, err := os.ReadFile(filepath.Join(out, file))
	require.NoError(t, err)
	require.Equal(t, body, got)
	require.Contains(t, c.ok("export", "conf/exa", "--format", "bibtex"), "file      = {:"+repo.Where(sha)+":PDF}")
	c.ok("export", "conf/exa", "--format", "bibtex", "--out", filepath.Join(out, "new", "folder", "exa.bib"))
	c.zipped(repo, file, body)
	for _, wrong := range [][]string{{"--files"}, {"--files", "--format", "csljson", "--out", out}, {"--format", "tree"}, {"--format", "xml"}} {
		c.wrong(program.ExitUsage, append([]string{"export", "conf/exa"}, wrong...)...)
	}
}

// zipped checks what the console saves of the same paper.
func (c *testConsole) zipped(repo *repository.Repository, file string, body []byte) {
	c.t.Helper()
	ctx := c.t.Context()
	h := store.Harvest{ID: "conf/exa/2003", Venue: "conf/exa", Years: gleaner.Years{From: 2003, To: 2003}, Options: []byte("{}"), Stage: gleaner.StageComplete}
	require.NoError(c.t, c.SaveHarvest(ctx, h))
	d := &desk{db: c.DB, app: &app.App{DB: c.DB, Repo: repo}}
	out, err := d.Export(ctx, h.ID, "bibtex", gleaner.Years{}, true)
	require.NoError(c.t, err)
	require.Equal(c.t, []string{"conf-exa-2003.zip", "application/zip"}, []string{out.Name, out.MediaType})
	var packed bytes.Buffer
	require.NoError(c.t, out.Write(&packed))
	z, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	require.NoError(c.t, err)
	got, err := fs.ReadFile(z, file)
	require.NoError(c.t, err)
	require.Equal(c.t, body, got)
	for _, f := range z.File {
		require.WithinDuration(c.t, time.Now(), f.Modified, 24*time.Hour, f.Name)
	}
	list, err := fs.ReadFile(z, "papers.bib")
	require.NoError(c.t, err)
	require.Contains(c.t, string(list), `{:exa/2003/Roe - Sorting XML\; 50 % more.pdf:PDF}`)
	for _, format := range console.ExportFormats() {
		out, err = d.Export(ctx, h.ID, format, gleaner.Years{}, false)
		require.NoError(c.t, err)
		packed.Reset()
		require.NoError(c.t, out.Write(&packed))
		require.Contains(c.t, packed.String(), "Sorting")
		marked := strings.HasPrefix(packed.String(), "\ufeff")
		require.Equal(c.t, format == "csv", marked, "spreadsheets know UTF-8 by its mark")
	}
	_, err = d.Export(ctx, h.ID, "ris", gleaner.Years{From: 2004, To: 2004}, false)
	require.Equal(c.t, program.ExitUnknown, exitCode(err))
}

// TestTwinsAreOnePaper: PDF, PostScript, packed or not, and DVI of one paper are one line
// of every export, which names the PDF and the others beside it, and one in the report.
func TestTwinsAreOnePaper(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	const host, key, site = "ada.example", "conf/x/Roe03", "site:http://ada.example/"
	require.NoError(t, c.SavePapers(t.Context(), []gleaner.Paper{{Key: key, Venue: "conf/x", Year: 2003, Title: "Sorting Measured Examples"}}, nil))
	require.NoError(t, c.SaveHarvest(t.Context(), store.Harvest{ID: site, Venue: site, Options: []byte(`{}`), Stage: "complete"}))
	for _, d := range []struct {
		name, kind, state, outcome, verdict, form string
		pages                                     int
	}{
		{"roe.ps.gz", "postscript", "accepted", "ok", "exact", "paper", 9},
		{"roe.pdf", "pdf", "accepted", "ok", "strong", "paper", 9},
		{"roe.dvi", "dvi", "failed", "no-reader", "", "", 0},
		{"a-draft.pdf", "pdf", "accepted", "ok", "strong", "paper", 4},
		{"other.pdf", "pdf", "accepted", "ok", "", "", 7},
		{"other.zip", "postscript", "accepted", "ok", "", "", 7},
	} {
		c.accepted(host, d.name)
		c.exec(`UPDATE documents SET meta_title='frontMatter', first_pages=E'Larger Examples\nby hand', kind=$2, state=$3, outcome=$4, pages=$5 WHERE sha256=$1`, host+d.name, d.kind, d.state, d.outcome, d.pages)
		if d.verdict != "" {
			c.exec(`INSERT INTO matches (paper_key, sha256, verdict, form, score) VALUES ($1, $2, $3, $4, 1)`, key, host+d.name, d.verdict, d.form)
		}
	}
	c.exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'site' FROM sites`, site)

	const at = "http://" + host + "/"
	others := []string{at + "a-draft.pdf", at + "roe.ps.gz", at + "roe.dvi"}
	var e store.Exported
	require.NoError(t, json.Unmarshal([]byte(c.ok("export", "conf/x")), &e), "one line")
	require.Equal(t, at+"roe.pdf", e.URL)
	also := each.Of(e.Also, func(o store.Twin) string { return o.URL })
	require.Equal(t, others, also)
	require.Equal(t, store.Twin{SHA256: host + "roe.dvi", URL: at + "roe.dvi", Kind: "dvi", Path: e.Also[2].Path}, e.Also[2])
	require.Contains(t, e.Also[2].Path, "roe.dvi")

	rows, err := csv.NewReader(strings.NewReader(c.ok("export", "conf/x", "--format", "csv"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.Equal(t, []string{"also", strings.Join(others, " ")}, []string{rows[0][17], rows[1][17]})
	for format, is := range map[string]biblio.Format{"bibtex": biblio.BibTeX, "ris": biblio.RIS} {
		out := c.ok("export", "conf/x", "--format", format)
		back, _, err := biblio.Read(strings.NewReader(out), is)
		require.NoError(t, err)
		require.Len(t, back, 1)
		require.Equal(t, append([]string{at + "roe.pdf"}, others...), back[0].Links, out)
	}
	require.Contains(t, c.ok("export", "conf/x", "--format", "bibtex"), "url       = {"+at+"roe.pdf},\n")

	var papers []string
	for line := range strings.Lines(c.ok("export", site)) {
		var e store.Exported
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		papers = append(papers, e.URL+" "+e.Paper+" "+e.Title)
	}
	require.Equal(t, []string{at + "other.pdf  Larger Examples by hand", at + "roe.pdf " + key + " Sorting Measured Examples"}, papers)
	rows, err = csv.NewReader(strings.NewReader(c.ok("export", site, "--format", "csv"))).ReadAll()
	require.NoError(t, err)
	require.Empty(t, rows[1][2], "no year is known")
	require.Contains(t, c.ok("report", site), "papers 2, in 5 academic documents of 6 files")
}

// checkOAI reads a static repository as harvesters do, by its namespaces.
func checkOAI(t *testing.T, file string) {
	const oai, dc = "http://www.openarchives.org/OAI/2.0/", "http://purl.org/dc/elements/1.1/"
	said := map[xml.Name][]string{}
	var in []xml.Name
	dec := xml.NewDecoder(strings.NewReader(file))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, file)
		switch is := token.(type) {
		case xml.StartElement:
			in = append(in, is.Name)
		case xml.EndElement:
			in = in[:len(in)-1]
		case xml.CharData:
			if s := strings.TrimSpace(string(is)); s != "" && len(in) > 0 {
				said[in[len(in)-1]] = append(said[in[len(in)-1]], s)
			}
		}
	}
	for name, want := range map[xml.Name][]string{
		{Space: oai, Local: "baseURL"}: {"https://gate.example/oai/exa.xml?a&b"}, {Space: oai, Local: "adminEmail"}: {"keeper@example.org"},
		{Space: oai, Local: "metadataPrefix"}: {"oai_dc"}, {Space: oai, Local: "identifier"}: {"oai:gate.example:journals/exa/Roe03"},
		{Space: dc, Local: "title"}: {"Sorting {Measured} Examples"}, {Space: dc, Local: "creator"}: {"Jane Roe", "Ada Poe"}, {Space: dc, Local: "date"}: {"2003"},
		{Space: dc, Local: "identifier"}: {"http://ada.example/roe.pdf", "https://doi.org/10.5555/exa.1"}, {Space: dc, Local: "format"}: {"application/pdf"},
		{Space: dc, Local: "source"}: {"Journal of Examples"}, {Space: dc, Local: "subject"}: nil,
	} {
		require.Equal(t, want, said[name], name.Local)
	}
	require.Equal(t, said[xml.Name{Space: oai, Local: "earliestDatestamp"}], said[xml.Name{Space: oai, Local: "datestamp"}])
}
