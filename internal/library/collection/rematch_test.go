package collection

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	decided "gleaner/internal/gleaner/evidence"
	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// fillTexts enters the papers of the pile as documents that were read, a place
// each: some in texts that are hard to read, some under the name of their link
// alone, some that list the titles of three.
func (s *shop) fillTexts(from, to int) {
	s.t.Helper()
	var docs, places [][]any
	for i := from; i < to; i++ {
		p := s.pile.Paper(i)
		r := rand.New(rand.NewPCG(5, uint64(i)))
		var prose strings.Builder
		for range 150 {
			prose.WriteString([]string{"the introduction ", "of distributed systems ", "implementation ", "we show that ", "a frontier ", "grows as "}[r.IntN(6)])
		}
		top, anchor := p.Title, ""
		switch i % 10 {
		case 1:
			top = strings.ReplaceAll(top, " ", "")
		case 2:
			top = top[:len(top)/2] + "x" + top[len(top)/2+1:]
		case 3:
			anchor, top = p.Title, "-"
		case 4:
			top = strings.Join([]string{top, s.pile.Paper(i + 1).Title, s.pile.Paper(i + 2).Title}, "\n\nby nobody in particular, as is known\n")
		case 5:
			top = strings.Replace(top, ": ", ":\n", 1)
		}
		text := fmt.Sprintf("%s\n%s\nAbstract\n%s", top, strings.Join(names(p), ", "), prose.String())
		sha := fmt.Sprintf("%064x", i+1)
		docs = append(docs, []any{sha, "", "", int64(1), "pdf", "rejected", "ok", text})
		places = append(places, []any{[]byte(sha[48:]), sha, int64(1), fmt.Sprintf("http://a.example/%d.pdf", i), anchor})
	}
	ctx := context.Background()
	_, err := s.db.Pool.CopyFrom(ctx, pgx.Identifier{"documents"}, []string{"sha256", "sha1", "md5", "bytes", "kind", "state", "outcome", "first_pages"}, pgx.CopyFromRows(docs))
	require.NoError(s.t, err)
	_, err = s.db.Pool.CopyFrom(ctx, pgx.Identifier{"locations"}, []string{"hash", "sha256", "site_id", "url", "anchor"}, pgx.CopyFromRows(places))
	require.NoError(s.t, err)
}

func names(p gleaner.Paper) (all []string) {
	for _, a := range p.Authors {
		all = append(all, a.Name)
	}
	return all
}

// rematched is how many documents a whole Rematch looks at.
func (s *shop) rematched() int {
	s.t.Helper()
	return devtest.Must(s.Rematch(context.Background(), Position{}, func(Position) {}))(s.t)
}

func (s *shop) matched() (all []string) {
	s.t.Helper()
	all = storetest.Column[string](s.t, s.db.Pool, `SELECT concat_ws('|', paper_key, m.sha256, verdict, m.score, form, m.reasons, d.state) FROM matches m JOIN documents d USING (sha256) ORDER BY 1`)
	return all
}

// TestRematchReadsWhatMayMatch: a new harvest's papers are looked for among those
// documents alone that may be one of them, and nothing is read where nothing changed.
func TestRematchReadsWhatMayMatch(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fillTexts(0, 900)
	s.want(0)
	require.Equal(t, 900, s.rematched(), "none was compared before")
	require.Zero(t, s.rematched(), "nothing changed")
	storetest.Exec(t, s.db.Pool, `ANALYZE`)
	s.want(0, 100, 200, 305, 406)
	n := s.rematched()
	require.Less(t, n, 150, "those that share a phrase of one of five titles")
	require.Subset(t, strings.Split(strings.Join(s.matched(), "|"), "|"), []string{"conf/pile/0", "conf/pile/100", "conf/pile/200", "conf/pile/305", "conf/pile/406"})
	s.want(0)
	require.LessOrEqual(t, s.rematched(), n)
	for _, m := range s.matched() {
		require.Contains(t, m, "conf/pile/0|")
	}

	var many []int
	for i := range 60 {
		many = append(many, 15*i)
	}
	s.want(many...)
	s.rematched()
	s.db.Pool.Reset() // a server's process tells what it read when it ends
	var others, read int
	require.Eventually(t, func() bool {
		err := s.db.Pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname=current_database() AND pid<>pg_backend_pid()),
			(SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname='signs' AND schemaname=current_schema())`).Scan(&others, &read)
		return err == nil && others == 0
	}, time.Minute, 50*time.Millisecond)
	require.Zero(t, read, "the index says which documents bear a sign, however many are asked for")
}

// TestRematchMissesNothing: what it comes to is what a look at every document comes
// to, whatever was wanted, changed and found elsewhere before.
func TestRematchMissesNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	const documents, rounds = 150, 8
	_, err := s.Add(ctx, fileAt("http://b.example/", []byte("%PDF-1.4"))) // the store is the record's from now on
	require.NoError(t, err)
	s.fillTexts(0, documents)
	storetest.Exec(t, s.db.Pool, `ANALYZE`)
	r := rand.New(rand.NewPCG(9, 9))
	read := 0
	for round := range rounds {
		var papers []gleaner.Paper
		for i := range documents + 20 {
			if r.IntN(4) == 0 {
				p := s.pile.Paper(i)
				if r.IntN(10) == 0 {
					p.Title = "Corrected " + p.Title
				}
				papers = append(papers, p)
			}
		}
		s.wantPapers(papers)
		body := []byte(fmt.Sprint("%PDF-1.4 ", round))
		file := fileAt(fmt.Sprintf("http://b.example/%d.pdf", round), body)
		shas := s.mustAdd(file)
		storetest.Exec(t, s.db.Pool, `UPDATE documents SET state='rejected', first_pages='nothing to be read' WHERE sha256=$1`, shas[0])
		file.URL, file.Anchor = file.URL+"?b", papers[0].Title
		s.mustAdd(file)

		read += s.rematched()
		got := s.matched()
		storetest.Exec(t, s.db.Pool, `UPDATE documents SET compared=0`)
		require.Equal(t, documents+round+1, s.rematched())
		require.Equal(t, strings.Join(s.matched(), "\n"), strings.Join(got, "\n"))
		require.NotEmpty(t, got)
	}
	t.Logf("%d of %d documents read", read, rounds*documents)
}

// TestRematchGoesOn: an attempt goes on where the one before was stopped, also when
// other papers are wanted meanwhile.
func TestRematchGoesOn(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	s.fillTexts(0, 450)
	s.want(0)
	stopped, stop := context.WithCancel(ctx)
	var at Position
	_, err := s.Rematch(stopped, Position{}, func(p Position) { at = p; stop() })
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 200, at.Done)
	require.Equal(t, 450, devtest.Must(s.Rematch(ctx, at, func(Position) {}))(t), "each once")

	var some []int
	for i := range 450 {
		some = append(some, i)
	}
	s.want(some...)
	stopped, stop = context.WithCancel(ctx)
	_, err = s.Rematch(stopped, Position{}, func(p Position) { at = p; stop() })
	require.ErrorIs(t, err, context.Canceled)
	s.want(some[1:]...)
	var told []Position
	_, err = s.Rematch(ctx, at, func(p Position) { told = append(told, p) })
	require.NoError(t, err)
	require.Greater(t, told[0].After, at.After)
	got := s.matched()
	require.Contains(t, got[0], "conf/pile/0|", "the change since is for who made it")
	s.rematched()
	require.NotContains(t, s.matched()[0], "conf/pile/0|")
	require.Zero(t, s.rematched())
}

// TestATitleIsAPaperAtItsAuthorsHomepage: a document by whose title no author stands, but
// further down, is a paper where it lies at the homepage of one, or is linked from there,
// whenever that was found and as long as it is held for one.
func TestATitleIsAPaperAtItsAuthorsHomepage(t *testing.T) {
	t.Parallel()
	s := newShop(t, 0, 1, 2)
	ada := s.pile.Paper(0).Authors[0]
	for i, at := range [][2]string{
		{"http://a.example/~ada/p.pdf", "http://search.example/"},
		{"http://files.example/p.pdf", "http://a.example/~ada/pubs.html"},
		{"http://a.example/~bob/p.pdf", "http://a.example/~bob/"},
	} {
		p := s.pile.Paper(i)
		p.Authors = []gleaner.Author{ada}
		require.NoError(t, s.db.SavePapers(t.Context(), []gleaner.Paper{p}, nil))
		sha := fmt.Sprintf("%064x", i+1)
		storetest.Exec(t, s.db.Pool, `INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, outcome, first_pages) VALUES ($1,'','',1,'pdf','rejected','ok',$2)`,
			sha, p.Title+"\n\nAbstract\n"+strings.Repeat("We show that the frontier grows as it is asked.\n", 200)+ada.Name+"\n")
		storetest.Exec(t, s.db.Pool, `INSERT INTO locations (hash, sha256, site_id, url, parent) VALUES ($1,$2,1,$3,$4)`, []byte(sha[48:]), sha, at[0], at[1])
	}
	verdicts := func(homepages ...string) (all []string) {
		var kept []store.Homepage
		for _, h := range homepages {
			kept = append(kept, store.Homepage{AuthorID: ada.ID(), URL: h, Host: weburl.Host(h)})
		}
		require.NoError(t, s.db.SaveDecision(t.Context(), decided.Decision{Author: ada}, kept))
		s.rematched()
		all = storetest.Column[string](t, s.db.Pool, `SELECT verdict FROM matches ORDER BY paper_key`)
		return all
	}
	require.Equal(t, []string{"ambiguous", "ambiguous", "ambiguous"}, verdicts())
	require.Equal(t, []string{"strong", "strong", "ambiguous"}, verdicts("http://a.example/~ada/"))
	require.Zero(t, s.rematched(), "nothing changed")
	require.Equal(t, []string{"ambiguous", "ambiguous", "ambiguous"}, verdicts("http://elsewhere.example/"))
}
