package metadata

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/guard"
)

// TestAnAnswerOverWhichTheProgramPanicsIsABadOne, which callers pass over by name.
func TestAnAnswerOverWhichTheProgramPanicsIsABadOne(t *testing.T) {
	t.Parallel()
	web := &stub{t: t, replies: map[string][]reply{"/deep": {{body: "{}"}}}}
	s := newService(Config{HTTPClient: &http.Client{Transport: web}}.withDefaults(), "A Catalogue", 0)
	err := s.get(t.Context(), "http://catalogue.example/deep", func([]byte) error { panic("it nests too deep") })
	require.ErrorContains(t, as[ErrBadAnswer](t, err), "it nests too deep")
	require.False(t, guard.Panicked(err))
}
