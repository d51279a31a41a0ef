package metadata

import (
	"strings"
	"testing"
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
		if err == nil || strings.Contains(err.Error(), "echoed") {
			t.Errorf("%s: got %v", to, err)
		}
	}
}
