package sampleweb_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/sampleweb"
)

// ask sends a request as a client of the proxy would.
func ask(w *sampleweb.Web, address string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, address, nil))
	return rec
}

func TestTruthIsServed(t *testing.T) {
	t.Parallel()
	w := sampleweb.New(sampleweb.Options{Seed: 1})
	missing := map[string]int{}
	for _, p := range w.Truth().Papers {
		missing[p.Missing]++
		for i, u := range p.URLs {
			rec := ask(w, u)
			require.Equal(t, http.StatusOK, rec.Code, u)
			sum := sha256.Sum256(rec.Body.Bytes())
			require.Equal(t, p.SHA256[i], hex.EncodeToString(sum[:]), u)
		}
	}
	require.Equal(t, map[string]int{
		"": 24, sampleweb.ReasonNoHomepage: 1, sampleweb.ReasonRefused: 1, sampleweb.ReasonNotLinked: 1,
		sampleweb.ReasonRejected: 2, sampleweb.ReasonFailed: 1,
	}, missing)
	for _, a := range w.Truth().Authors {
		if a.Homepage != "" {
			assert.Equal(t, http.StatusOK, ask(w, a.Homepage).Code, a.Homepage)
		}
	}
	assert.GreaterOrEqual(t, len(w.Hosts()), 15)
}

func TestSameOptionsSameBytes(t *testing.T) {
	t.Parallel()
	one, two := sampleweb.New(sampleweb.Options{Seed: 7}), sampleweb.New(sampleweb.Options{Seed: 7})
	other := sampleweb.New(sampleweb.Options{Seed: 8})
	require.Equal(t, one.Truth(), two.Truth())
	require.NotEqual(t, one.Truth(), other.Truth())
	for _, a := range one.Truth().Authors {
		if a.Homepage != "" {
			require.Equal(t, ask(one, a.Homepage).Body.Bytes(), ask(two, a.Homepage).Body.Bytes())
		}
	}
}

// TestABrokenWebIsInTheLog: what was asked of it while it dropped connections is a
// request like any other, with no answer.
func TestABrokenWebIsInTheLog(t *testing.T) {
	t.Parallel()
	w := sampleweb.New(sampleweb.Options{Seed: 1})
	server := httptest.NewServer(w)
	defer server.Close()
	get := func() error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/people.html", nil)
		require.NoError(t, err)
		req.Host, req.Close = "www.cs.northfield.example", true
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
	require.NoError(t, get())
	w.Break(true)
	require.Error(t, get())
	w.Break(false)
	require.NoError(t, get())
	require.Eventually(t, func() bool { return len(w.Log()) == 3 }, 10*time.Second, 10*time.Millisecond)
	var statuses []int
	for _, q := range w.Log() {
		statuses = append(statuses, q.Status)
		require.False(t, q.End.Before(q.Time))
		require.Equal(t, 1, q.InFlight)
		require.Equal(t, len(statuses) == 1, q.Gap < 0, "the first has none")
	}
	require.Equal(t, []int{200, 0, 200}, statuses)
}
