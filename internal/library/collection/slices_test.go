package collection

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// TestMatchHeldGoesInSlices: what they come to together is what one does, and each goes on by
// one batch at least.
func TestMatchHeldGoesInSlices(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fillTexts(0, 450)
	s.want(0, 440)
	s.slice = 0
	parts := 0
	at := Position{More: true}
	for at.More {
		at = devtest.Must(s.MatchHeld(t.Context(), "conf/pile/all", at, func(Position) {}))(t)
		parts++
		require.Less(t, parts, 9)
	}
	require.Greater(t, parts, 2)
	require.Equal(t, 450, at.Done)
	got := s.matched()
	s.slice = sliceTime
	s.rematched()
	require.Equal(t, got, s.matched())
}

// TestJudgeWaitingGoesInSlices: each takes one batch at most where its time is over, and ends
// where all that is left is in others' hands.
func TestJudgeWaitingGoesInSlices(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.slice = 0
	batch, done := 2*cap(s.cores), 0
	_, shas := s.sheets(slices.Repeat([]string{"http://a.example/s.pdf"}, 2*batch+1)...)
	put := func(sql string, args ...any) { storetest.Exec(t, s.db.Pool, sql, args...) }
	put(`UPDATE documents SET state='new', outcome=''`)
	for more := true; more; {
		n, again, err := s.JudgeWaiting(t.Context(), store.Unexamined{}, func(int) {})
		require.NoError(t, err)
		require.LessOrEqual(t, n, batch)
		done, more = done+n, again
	}
	require.Equal(t, 2*batch+1, done)
	put(`UPDATE documents SET state='new', taken_until='infinity' WHERE sha256=$1`, shas[0])
	n, more, err := s.JudgeWaiting(t.Context(), store.Unexamined{Site: 1}, func(int) {})
	require.NoError(t, err)
	require.Zero(t, n)
	require.False(t, more, "whoever holds on to it judges it")
}

// TestJudgingOtherwiseGoesInSlices: each judges as many documents at least as there are
// processors, and no more where its time is over.
func TestJudgingOtherwiseGoesInSlices(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1)
	s.slice = 0
	most := cap(s.cores)
	s.sheets(slices.Repeat([]string{"http://a.example/s.pdf"}, 2*most+1)...)
	storetest.Exec(t, s.db.Pool, `UPDATE documents SET state='accepted', outcome='unread'`)
	storetest.Exec(t, s.db.Pool, `INSERT INTO sites (host) VALUES ('a.example')`)
	storetest.Exec(t, s.db.Pool, `INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ('conf/pile/all', 1, 'homepage')`)
	require.True(t, devtest.Must(s.MatchHeld(t.Context(), "conf/pile/all", Position{}, func(Position) {}))(t).More)
	judged := storetest.Get[int](t, s.db.Pool, `SELECT count(*) FROM documents WHERE outcome<>'unread'`)
	require.Equal(t, most, judged)
}

// TestMatchHeldGoesOn after what was not compared before, also where that stays so.
func TestMatchHeldGoesOn(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fillTexts(0, 250)
	s.want(0)
	s.slice = 0
	for _, sql := range []string{
		`CREATE FUNCTION forget() RETURNS trigger AS $$ BEGIN NEW.compared := 0; RETURN NEW; END $$ LANGUAGE plpgsql`,
		`CREATE TRIGGER forget BEFORE UPDATE ON documents FOR EACH ROW EXECUTE FUNCTION forget()`,
	} {
		storetest.Exec(t, s.db.Pool, sql)
	}
	for at, parts := (Position{More: true}), 0; at.More; parts++ {
		require.Less(t, parts, 9)
		at = devtest.Must(s.MatchHeld(t.Context(), "conf/pile/all", at, func(Position) {}))(t)
	}
}

// TestADocumentThatKillsWhoJudgesItOtherwise is left as it is after frontier.MaxDeaths, and the
// documents beside it are judged.
func TestADocumentThatKillsWhoJudgesItOtherwise(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1)
	shas := s.three()
	for _, sql := range []string{
		`UPDATE documents SET state='accepted', outcome='unread'`,
		`INSERT INTO sites (host) VALUES ('a.example')`,
		`INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ('conf/pile/all', 1, 'homepage')`,
	} {
		storetest.Exec(t, s.db.Pool, sql)
	}
	over, deaths := s.pile.File(1, sampleweb.AsPDF), 0
	for range frontier.MaxDeaths + 2 {
		again := func(c *Collection) {
			_, _ = c.MatchHeld(context.Background(), "conf/pile/all", Position{}, func(Position) {})
		}
		if !s.process(over, again) {
			break
		}
		deaths++
	}
	require.Equal(t, frontier.MaxDeaths, deaths)
	require.Equal(t, "unread", s.document(shas[1]).Outcome)
	for _, sha := range []string{shas[0], shas[2]} {
		d := s.document(sha)
		require.NotEqual(t, "unread", d.Outcome)
		require.Zero(t, d.Deaths)
	}
	s.mustJudge(Stored(shas[1]), Again)
	require.Equal(t, gleaner.DocumentAccepted, s.document(shas[1]).State)
}
