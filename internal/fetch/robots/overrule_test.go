package robots

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/temoto/robotstxt"
)

// TestOverrules holds each case to its example: the library still differs, and its answer
// is not taken.
func TestOverrules(t *testing.T) {
	t.Parallel()
	for _, o := range overrules {
		lib, err := robotstxt.FromString(o.file)
		assert.False(t, err == nil && lib.TestAgent(o.path, "gleaner") == o.allowed, o.why)
		if got, rule := Parse([]byte(o.file), "gleaner").Allowed(o.path); got != o.allowed {
			t.Errorf("%s: allowed %v by %q, want %v", o.why, got, rule, o.allowed)
		}
	}
}

// TestLibraryDecides: without a case of its own a group takes the library's answer, be it
// yes or no.
func TestLibraryDecides(t *testing.T) {
	t.Parallel()
	r := Parse([]byte("User-agent: *\nDisallow: /a\nAllow: /a/b\n"), "gleaner")
	r.group.rules[0].parts[0] = "/nothing"
	for path, want := range map[string]bool{"/a": false, "/a/b": true, "/c": true} {
		if got, rule := r.Allowed(path); got != want {
			t.Errorf("%s: allowed %v by %q", path, got, rule)
		}
	}
}
