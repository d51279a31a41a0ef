package sampleweb_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/metadata"
)

// TestMetadataIsUnderstood asks the service through a real proxy with the
// client that asks the real one.
func TestMetadataIsUnderstood(t *testing.T) {
	t.Parallel()
	w := sampleweb.New(sampleweb.Options{Seed: 1, Venues: 2})
	proxy := httptest.NewServer(w)
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	dblp := metadata.NewDBLP(metadata.Config{
		DBLPURL: sampleweb.DBLPURL, DBLPMirrorURL: "-",
		Delays:     metadata.Delays{DBLP: time.Millisecond},
		HTTPClient: &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(address)}},
	})
	first, last := w.Years()
	truth := map[string]sampleweb.PaperTruth{}
	for _, p := range w.Truth().Papers {
		truth[p.Key] = p
	}
	listed := 0
	for _, key := range w.Venues() {
		v, err := dblp.ResolveVenue(t.Context(), key)
		require.NoError(t, err)
		papers, err := dblp.List(t.Context(), v, gleaner.Years{From: first, To: last}, func(int, int) {})
		require.NoError(t, err)
		for _, p := range papers {
			require.Equal(t, truth[p.Key].Title, p.Title)
			require.Len(t, p.Authors, len(truth[p.Key].Authors))
			require.NotEmpty(t, p.Links)
		}
		listed += len(papers)
	}
	require.Equal(t, len(truth), listed)
	for _, a := range w.Truth().Authors[:4] {
		person, err := dblp.Person(t.Context(), a.PID)
		require.NoError(t, err)
		require.Equal(t, a.Name, person.Author.Name)
	}
}
