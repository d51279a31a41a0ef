package collections_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	. "gleaner/internal/record/collections"
)

// TestAcceptance counts what was fetched by the topic that it is most like, and a document
// that the filter accepted once, whatever its addresses.
func TestAcceptance(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var seeds []URL
	for _, path := range []string{"page", "off", "none", "good", "twice", "bad", "gone", "later", "refused"} {
		seeds = append(seeds, url("a.example", path, 1))
	}
	q := open(t, Rules{Size: 9}, seeds)
	storetest.Exec(t, q.db.Pool, `INSERT INTO documents (sha256, sha1, md5, bytes, kind, state) VALUES ('aa', '', '', 1, 'pdf', 'accepted'), ('bb', '', '', 1, 'pdf', 'rejected')`)
	math := Member{"math", 0.5}
	for _, v := range []Visit{
		{Kind: Page, Best: math},
		{Kind: Page, Best: Member{"math", 0.1}, Outcome: "off-topic"},
		{Kind: Page},
		{Kind: Document, Best: math, SHA256: "aa"},
		{Kind: Document, Best: Member{"verse", 0.5}, SHA256: "aa"},
		{Kind: Document, Best: math, SHA256: "bb"},
		{Outcome: "status-404"},
		{Kind: Page, Best: math, Again: time.Now().Add(time.Hour)},
		{Refused: true, Outcome: gleaner.Outcome("robots-denied")},
	} {
		u := take(t, q)
		v.URL, v.At = u, time.Now()
		require.NoError(t, q.Write(ctx, &v))
	}
	all, by, err := q.Acceptance(ctx, q.ID)
	require.NoError(t, err)
	require.Equal(t, Acceptance{Pages: 3, Documents: 3, Accepted: 1}, all)
	require.Equal(t, map[string]Acceptance{"math": {2, 2, 1}, "verse": {0, 1, 1}, "": {1, 0, 0}}, by)
}
