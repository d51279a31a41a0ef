package biblio_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/metadata/biblio"
)

// written is what the readers below must find in every format.
func written() []biblio.Entry {
	return []biblio.Entry{
		{File: `WebDB/2003/Zola et al. - Sorting; {all}, 50% of it.pdf`, Kind: "pdf", Paper: gleaner.Paper{Key: "conf/webdb/ZolaD03", Year: 2003,
			Venue: "Workshop on the Web & Databases", Title: `Indexing XML in 50% of the Time: A View on α_1 & WebDB`, Authors: authors("Émile Zola", "Sammy Davis Jr."),
			DOI: "10.1000/x_y", Pages: "1-10", Links: []string{"http://a.example/x_y?a=1&b=%20"}}},
		{File: "/blobs/ab/cd", Kind: "ps", Paper: gleaner.Paper{Key: "journals/jair/Poe04", Year: 2004, Venue: "Journal of Things", Title: "learning of Bayesian networks from small samples",
			Authors: authors("Ada Poe"), Links: []string{"http://b.example/poe.ps"}}},
		{Paper: gleaner.Paper{Key: "conf/webdb/ZolaD03", Title: "A Document Without a Venue", Links: []string{"http://c.example/"}}},
	}
}

func other(t *testing.T, stdin []byte, program string, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	require.NoError(t, err, said.String())
	require.NotContains(t, strings.ToLower(said.String()), "did not recognize", said.String())
	require.NotContains(t, strings.ToLower(said.String()), "warning", said.String())
	return out
}

func writtenAs(t *testing.T, f biblio.Format) []byte {
	var b bytes.Buffer
	require.NoError(t, biblio.Write(&b, f, written()))
	return b.Bytes()
}

// mods is what bibutils makes of a reference.
type mods struct {
	Title string `xml:"titleInfo>title"`
	Sub   string `xml:"titleInfo>subTitle"`
	Names []struct {
		Parts []struct {
			Kind string `xml:"type,attr"`
			Text string `xml:",chardata"`
		} `xml:"namePart"`
	} `xml:"name"`
	Date string   `xml:"originInfo>dateIssued"`
	Part string   `xml:"part>date"`
	Host []string `xml:"relatedItem>titleInfo>title"`
	IDs  []struct {
		Kind string `xml:"type,attr"`
		Text string `xml:",chardata"`
	} `xml:"identifier"`
	URLs []struct {
		Access string `xml:"access,attr"`
		Text   string `xml:",chardata"`
	} `xml:"location>url"`
}

func (m mods) id(kind string) string {
	for _, id := range m.IDs {
		if id.Kind == kind {
			return id.Text
		}
	}
	return ""
}

// TestBibutilsReads: an independent reader finds every field of BibTeX and RIS, and
// the file.
func TestBibutilsReads(t *testing.T) {
	t.Parallel()
	for format, program := range map[biblio.Format]string{biblio.BibTeX: "bib2xml", biblio.RIS: "ris2xml"} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			var got struct {
				All []mods `xml:"mods"`
			}
			require.NoError(t, xml.Unmarshal(bytes.TrimPrefix(other(t, writtenAs(t, format), program, "-i", "utf8"), []byte("\ufeff")), &got))
			require.Len(t, got.All, 3)
			for i, want := range written() {
				m := got.All[i]
				require.Equal(t, want.Title, strings.TrimSuffix(m.Title+": "+m.Sub, ": "))
				require.Len(t, m.Names, len(want.Authors))
				require.Equal(t, want.DOI, m.id("doi"))
				if want.Year != 0 {
					require.Contains(t, m.Date+m.Part, "200")
				}
				if want.Venue != "" {
					require.Contains(t, m.Host, want.Venue)
				}
				links := map[string]string{}
				for _, u := range m.URLs {
					links[u.Access] = u.Text
				}
				require.Equal(t, want.Links[0], links[""])
				file := want.File
				if format == biblio.BibTeX { // bibutils leaves JabRef's backslashes where they are; a brace has no place there
					file = strings.NewReplacer(";", `\;`, "{", "", "}", "").Replace(file)
				}
				require.Equal(t, file, links["raw object"])
			}
			var parts []string
			for _, p := range got.All[0].Names[1].Parts {
				parts = append(parts, p.Kind+" "+strings.Trim(p.Text, ","))
			}
			require.Equal(t, []string{"given Sammy", "family Davis", "suffix Jr."}, parts)
			require.Contains(t, got.All[0].id("citekey"), "conf/webdb/ZolaD03")
		})
	}
}

// TestCitationProcessorReads: pandoc reads BibTeX and CSL-JSON, and its citation
// processor sets references of them, in which the capitals that matter stay.
func TestCitationProcessorReads(t *testing.T) {
	t.Parallel()
	var items []map[string]any
	require.NoError(t, json.Unmarshal(other(t, writtenAs(t, biblio.CSL), "pandoc", "--from=csljson", "--to=csljson"), &items))
	require.Len(t, items, 3)
	require.Equal(t, map[string]any{"id": "conf/webdb/ZolaD03", "type": "paper-conference", "title": written()[0].Title, "container-title": written()[0].Venue,
		"author": []any{map[string]any{"family": "Zola", "given": "Émile"}, map[string]any{"family": "Davis", "given": "Sammy", "suffix": "Jr."}},
		"issued": map[string]any{"date-parts": []any{[]any{2003.0}}}, "page": "1-10", "DOI": "10.1000/x_y", "URL": written()[0].Links[0]}, items[0])
	require.Equal(t, "article-journal", items[1]["type"])
	require.Equal(t, "conf/webdb/ZolaD03-2", items[2]["id"])

	set := string(other(t, writtenAs(t, biblio.BibTeX), "pandoc", "--from=bibtex", "--to=plain", "--citeproc", "--wrap=none"))
	for _, want := range []string{"Indexing XML in 50% of the Time: A View on Α_1 & WebDB", "Zola, Émile", "Learning of Bayesian Networks", "Workshop on the Web & Databases", "doi.org/10.1000/x_y", "http://b.example/poe.ps"} {
		require.Contains(t, strings.ReplaceAll(set, "α", "Α"), want)
	}
	read := string(other(t, writtenAs(t, biblio.BibTeX), "pandoc", "--from=bibtex", "--to=csljson"))
	require.Contains(t, read, `"title": "Learning of Bayesian networks from small samples"`, "the name keeps its capital")
	require.Contains(t, read, `Indexing XML in 50% of the time`)
}
