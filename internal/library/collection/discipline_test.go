package collection

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/classify"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/internal/topic"
)

// about is a discipline whose texts have all words of some, and no others.
func about(t *testing.T, name string, some []string) *classify.Disciplines {
	var examples []classify.Example
	for i := range 12 {
		site := fmt.Sprint(name, i)
		examples = append(examples, classify.Example{Words: some, Topic: true, Site: site},
			classify.Example{Words: []string{"tulip", "rose", "garden", "spade", site}, Site: site})
	}
	k := devtest.Must(classify.Train(examples, classify.Options{}))(t)
	raw := devtest.Must(json.Marshal(k))(t)
	d := classify.NewDisciplines(topic.NewFilter(topic.Stops{}))
	require.NoError(t, d.Add(name, raw))
	require.Error(t, d.Add(name, raw), "twice")
	require.Error(t, d.Add("other", []byte("{}")))
	return d
}

// TestAcceptByDiscipline: of academic documents those are accepted that are of a
// discipline that is collected, and wanted papers always.
func TestAcceptByDiscipline(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	pdf := s.pile.File(0, sampleweb.AsPDF)
	require.Equal(t, gleaner.DocumentAccepted, s.take("http://www.example.org/a.pdf", pdf)[0].State)
	text := devtest.Must(s.Read(t.Context(), fileAt("http://www.example.org/a.pdf", pdf)))(t)
	own := classify.Words(topic.NewFilter(topic.Stops{}), topic.Page{Text: text.String()})

	s.of = about(t, "gardening", []string{"hedg", "lawn", "mower", "soil"})
	shas, js := s.takeFile(fileAt("http://www.example.org/b.pdf", s.pile.File(1, sampleweb.AsPDF)))
	require.Equal(t, gleaner.DocumentRejected, js[0].State)
	require.Equal(t, string(document.OtherDiscipline), js[0].Outcome)
	d := s.document(shas[0])
	require.Equal(t, string(document.Paper), d.Class)
	require.Contains(t, d.Reasons[0], "other-discipline")
	assessed, err := s.Assess(t.Context(), fileAt("http://www.example.org/b.pdf", s.pile.File(1, sampleweb.AsPDF)))
	require.NoError(t, err)
	require.Equal(t, string(document.OtherDiscipline), assessed[0].Outcome)

	s.of = about(t, "databases", own)
	j := s.mustJudge(Stored(shas[0]), Again)
	require.Equal(t, gleaner.DocumentAccepted, j.State)
	require.Equal(t, string(document.OK), j.Outcome)

	s.of = about(t, "gardening", []string{"hedg", "lawn", "mower", "soil"})
	s.want(2)
	shas, js = s.takeFile(fileAt("http://www.example.org/c.pdf", s.pile.File(2, sampleweb.AsPDF)))
	require.Equal(t, gleaner.DocumentAccepted, js[0].State, "it is wanted")
	require.Equal(t, string(document.OK), js[0].Outcome)
	require.Equal(t, js[0].Outcome, s.document(shas[0]).Outcome)

	s.whole = true // else it would be read again
	shas, js = s.takeFile(fileAt("http://www.example.org/d.pdf", s.pile.File(3, sampleweb.AsPDF)))
	require.Equal(t, string(document.OtherDiscipline), js[0].Outcome)
	s.want(3)
	_, err = s.Rematch(t.Context(), Position{}, func(Position) {})
	require.NoError(t, err)
	d = s.document(shas[0])
	require.Equal(t, gleaner.DocumentAccepted, d.State, "it is wanted now")
	require.Equal(t, string(document.OK), d.Outcome, "by which its copies are ordered")

	shas, _ = s.takeFile(fileAt("http://www.example.org/e.pdf", s.pile.File(4, sampleweb.AsPDF)))
	storetest.Exec(t, s.db.Pool, `INSERT INTO sites (id, host) OVERRIDING SYSTEM VALUE VALUES (1, 'www.example.org')`)
	storetest.Exec(t, s.db.Pool, `INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ('conf/pile/all', 1, '')`)
	tallies := devtest.Must(s.db.DocumentTallies(t.Context(), "conf/pile/all"))(t)
	require.Contains(t, tallies, store.DocumentTally{State: "rejected", Class: string(document.OtherDiscipline), Documents: 1})
	listed, err := s.db.FindDocuments(t.Context(), store.DocumentQuery{Outcomes: []string{string(document.OtherDiscipline)}})
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Equal(t, string(document.OtherDiscipline), listed[0].What())
	require.Equal(t, string(document.OtherDiscipline), s.document(shas[0]).What())
}
