package app_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
)

// TestAnEngineNamedTwiceIsAskedOnce: else each search would be paid for twice. Whoever is asked learns by whom.
func TestAnEngineNamedTwiceIsAskedOnce(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "Gleaner/1.0 (+test@example.org)", r.UserAgent())
		_, _ = io.WriteString(w, `{"results": [{"url": "https://a.example/"}], "result": {"hits": {"@total": "0"}}}`)
	}))
	t.Cleanup(server.Close)
	cfg, err := config.Load(map[string]string{"data-dir": t.TempDir(), "database-url": devtest.Postgres(t), "contact": "test@example.org", "search": "searxng,brave,serper,brave",
		"brave-key": "k", "serper-key": "k", "searxng-url": server.URL, "dblp-url": server.URL}, os.DevNull, nil)
	require.NoError(t, err)
	a, err := app.Open(t.Context(), cfg, app.Options{})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	require.Len(t, a.Search, 3)
	_, err = a.Search[0].Search(t.Context(), "Ada", 1)
	require.NoError(t, err)
	_, err = a.Catalogues.DBLP.Authors(t.Context(), "Ada")
	require.NoError(t, err)
}
