package collection

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document"
	"gleaner/internal/document/documenttest"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
)

func TestMain(m *testing.M) {
	document.MaybeRunChild()
	maybeCrash()
	os.Exit(devtest.Main(m))
}

// shop is a collection of a test's own.
type shop struct {
	*Collection
	t    testing.TB
	dsn  string
	dir  string
	pile *sampleweb.Pile
}

// newShop is a collection in which some papers of the pile are wanted.
func newShop(t testing.TB, papers ...int) *shop {
	t.Helper()
	s := openShop(t, devtest.Postgres(t), t.TempDir())
	if len(papers) > 0 {
		s.want(papers...)
	}
	return s
}

func openShop(t testing.TB, dsn, dir string) *shop {
	c, shut, err := openCollection(dsn, dir)
	require.NoError(t, err)
	t.Cleanup(shut)
	return &shop{Collection: c, t: t, dsn: dsn, dir: dir, pile: sampleweb.NewPile(7)}
}

func openCollection(dsn, dir string) (*Collection, func(), error) {
	ctx := context.Background()
	db, err := store.Open(ctx, dsn, 8)
	if err != nil {
		return nil, nil, err
	}
	repo, err := repository.Open(ctx, dir)
	if err != nil {
		db.Close()
		return nil, nil, err
	}
	repo.BelongTo(db)
	c := New(Parts{DB: db, Repo: repo, Reader: documenttest.Shared(), Filter: document.NewFilter(document.Balanced)})
	return c, func() { _ = repo.Close(); db.Close() }, nil
}

// want makes papers of the pile wanted.
func (s *shop) want(papers ...int) {
	s.t.Helper()
	all := each.Of(papers, s.pile.Paper)
	s.wantPapers(all)
}

func (s *shop) wantPapers(all []gleaner.Paper) {
	s.t.Helper()
	ctx := context.Background()
	require.NoError(s.t, s.db.SavePapers(ctx, all, map[string]string{"source": "test"}))
	require.NoError(s.t, s.db.SaveHarvest(ctx, store.Harvest{ID: "conf/pile/all", Venue: "conf/pile", Options: []byte("{}"), Stage: "papers"}))
	require.NoError(s.t, s.db.SetHarvestPapers(ctx, "conf/pile/all", all, nil))
	s.wanted.forget()
}

var at = time.Date(2003, 5, 17, 12, 0, 0, 0, time.UTC)

func fileAt(url string, body []byte) File {
	return File{SiteID: 1, URL: url, Parent: "http://www.example.org/~ada/", Body: body, At: at, Header: http.Header{}}
}

// take adds a file and judges what is in it.
func (s *shop) take(url string, body []byte) []Judgement {
	s.t.Helper()
	_, js := s.takeFile(fileAt(url, body))
	return js
}

func (s *shop) takeFile(f File) (shas []string, js []Judgement) {
	s.t.Helper()
	shas = s.mustAdd(f)
	for _, sha := range shas {
		js = append(js, s.mustJudge(Stored(sha), Once))
	}
	return shas, js
}

func (s *shop) document(sha string) store.Document {
	s.t.Helper()
	d, _, err := s.db.Document(context.Background(), sha)
	require.NoError(s.t, err)
	return d
}

// dump is all that the record and the repository hold, but for times and
// numbers that a second attempt may choose anew.
func (s *shop) dump() string {
	s.t.Helper()
	var b strings.Builder
	for _, q := range []string{
		`SELECT concat_ws('|', 'document', sha256, sha1, md5, bytes, kind, state, outcome, detail, reader, class, score, reasons, pages, words, refs, meta_title,
			md5(first_pages), same_as, ingestion, tries) FROM documents`,
		`SELECT concat_ws('|', 'location', encode(hash,'hex'), sha256, site_id, url, member, parent, anchor, current, found_at) FROM locations`,
		`SELECT concat_ws('|', 'match', paper_key, sha256, verdict, score, form, reasons, settled) FROM matches`,
		`SELECT concat_ws('|', 'sketch', sha256, md5(sketch), bands) FROM sketches`,
	} {
		for _, line := range storetest.Column[string](s.t, s.db.Pool, q+" ORDER BY 1") {
			fmt.Fprintln(&b, line)
		}
	}
	var files []string
	require.NoError(s.t, filepath.WalkDir(s.dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(p, ".partial") && d.Name() != "record" {
			files = append(files, strings.TrimPrefix(p, s.dir))
		}
		return err
	}))
	slices.Sort(files)
	b.WriteString(strings.Join(files, "\n"))
	return b.String()
}

// add stores a file, and reads the documents in it back later.
func add(ctx context.Context, c *Collection, f File) ([]string, error) {
	k, err := c.Keep(ctx, f)
	if err != nil {
		return nil, err
	}
	defer k.Release()
	return each.Of(k.Documents, func(d Document) string { return d.SHA256 }), nil
}

func (s *shop) Add(ctx context.Context, f File) ([]string, error) { return add(ctx, s.Collection, f) }

func (s *shop) mustAdd(f File) []string {
	s.t.Helper()
	return devtest.Must(s.Add(s.t.Context(), f))(s.t)
}

func (s *shop) mustJudge(d Document, how Mode) Judgement {
	s.t.Helper()
	return devtest.Must(s.Judge(s.t.Context(), d, how))(s.t)
}

// mustJudgeWaiting returns how many documents it judged.
func (s *shop) mustJudgeWaiting(of store.Unexamined) int {
	s.t.Helper()
	n, _, err := s.JudgeWaiting(s.t.Context(), of, func(int) {})
	require.NoError(s.t, err)
	return n
}
