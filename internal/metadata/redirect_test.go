package metadata

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRedirectsAreNamedByTheirHostAlone: what a service makes of what it was asked,
// and puts into the address that it sends on to, is in no error.
func TestRedirectsAreNamedByTheirHostAlone(t *testing.T) {
	t.Parallel()
	for to, then := range map[string]reply{
		"http://elsewhere.example/echoed-key?echoed-query": {},
		"http://[echoed-key/":                              {},
		"https://dblp.org/echoed-key.xml":                  {status: 403, body: "no"},
		"https://dblp.org/pid/echoed-key.xml?echoed":       {status: 404},
	} {
		cfg, _ := stubConfig(t, map[string][]reply{"pid/1/2": {{status: 302, header: map[string]string{"Location": to}}},
			"echoed-key.xml": {then}, "pid/echoed-key.xml": {then}, "pid/echoed-key.xml?echoed": {then}})
		cfg.DBLPMirrorURL, cfg.Retries = "-", -1
		_, err := NewDBLP(cfg).Person(t.Context(), "1/2")
		require.Error(t, err, to)
		assert.NotContains(t, err.Error(), "echoed", to)
	}
}
