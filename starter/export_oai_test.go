package main

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// oaiRead is a static repository as a gateway reads it.
type oaiRead struct {
	Earliest string `xml:"Identify>earliestDatestamp"`
	Records  []struct {
		Identifier string   `xml:"header>identifier"`
		Datestamp  string   `xml:"header>datestamp"`
		Title      []string `xml:"metadata>dc>title"`
		Subject    []string `xml:"metadata>dc>subject"`
		Places     []string `xml:"metadata>dc>identifier"`
	} `xml:"ListRecords>record"`
}

// writtenOAI is what a gateway reads of some entries of a collection.
func writtenOAI(t *testing.T, found ...store.Exported) (r oaiRead) {
	o, err := oaiOf("math", "https://gate.example/math.xml", "Keeper <mailto@example.org>")
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, o.write(&b, found, true))
	require.NoError(t, xml.Unmarshal([]byte(b.String()), &r), b.String())
	require.Contains(t, b.String(), "<oai:adminEmail>mailto@example.org<")
	return r
}

// TestOAIOfHostileText: what pages call themselves is text, and the file stays XML.
func TestOAIOfHostileText(t *testing.T) {
	t.Parallel()
	r := writtenOAI(t, store.Exported{Identity: "http://a.example/\x01\"'<>&]]>\xff", URL: "http://a.example/\x01\"'<>&]]>\xff", Title: "a\x00\x0b\xc3\x28]]></dc:title>\ufffe\U0001F600", MatchedBy: "<t>",
		Authors: []gleaner.Author{{Name: "\x1b[31m"}}})
	require.Len(t, r.Records, 1)
	require.Equal(t, []string{"a\ufffd\ufffd\ufffd(]]></dc:title>\ufffd\U0001F600"}, r.Records[0].Title)
	require.Equal(t, "oai:gate.example:http://a.example/%01%22'%3C%3E&%5D%5D%3E%FF", r.Records[0].Identifier)
}

// TestOAIOfADocumentAtTwoPlaces: it is one record, at both, as new as what was found
// last of it, and of its topic once.
func TestOAIOfADocumentAtTwoPlaces(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	here := store.Exported{Identity: "1", SHA256: "1", URL: "http://a.example/a.pdf", MatchedBy: "t", FetchedAt: day, Kind: "pdf"}
	there := here
	there.URL, there.FetchedAt = "http://b.example/a.pdf", day.AddDate(0, 1, 0)
	other := there
	other.MatchedBy = "u"
	r := writtenOAI(t, here, there, other)
	require.Len(t, r.Records, 1)
	got := r.Records[0]
	require.Equal(t, []string{"t", "u"}, got.Subject)
	require.Equal(t, []string{here.URL, there.URL}, got.Places)
	require.Equal(t, "2026-04-01", got.Datestamp)
}

// TestOAIDatesWhatBecameARecord: a document that was found long before it was known to
// be a paper is new to who harvests by date.
func TestOAIDatesWhatBecameARecord(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	paper := gleaner.Paper{Key: "journals/exa/Roe03", Venue: "journals/exa", Year: 2003, Title: "Sorting Measured Examples"}
	require.NoError(t, c.SavePapers(t.Context(), []gleaner.Paper{paper}, nil))
	c.accepted("ada.example", "roe.pdf")
	c.exec(`UPDATE locations SET found_at='2026-01-02'`)
	c.exec(`INSERT INTO matches (paper_key, sha256, verdict, score, matched_at) VALUES ($1, 'ada.exampleroe.pdf', 'exact', 1, '2026-06-07 12:00Z')`, paper.Key)
	c.args = append(c.args, "--contact", "keeper@example.org")
	var r oaiRead
	require.NoError(t, xml.Unmarshal([]byte(c.ok("export", "journals/exa", "--format", "oai", "--base-url", "https://gate.example/exa.xml")), &r))
	require.Equal(t, "2026-06-07", r.Records[0].Datestamp)
	require.Equal(t, "2026-06-07", r.Earliest)
	require.Contains(t, c.ok("export", "journals/exa"), `"fetched_at":"2026-01-02`)
}

// TestOAIWantsAnAddress: an address of a page is none of mail.
func TestOAIWantsAnAddress(t *testing.T) {
	t.Parallel()
	_, err := oaiOf("math", "https://gate.example/math.xml", "https://library.example/@crawler")
	require.ErrorIs(t, err, program.ErrUsage)
}
