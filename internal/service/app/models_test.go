package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/classify"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
)

// TestDisciplinesOfThePolicy are read from the files that it names; what is wrong with one
// is said with its name.
func TestDisciplinesOfThePolicy(t *testing.T) {
	t.Parallel()
	var examples []classify.Example
	for i := range 12 {
		site := fmt.Sprint("site", i)
		examples = append(examples, classify.Example{Words: []string{"lawn", "mower", "soil", "spade"}, Topic: true, Site: site},
			classify.Example{Words: []string{"queri", "index", "join", site}, Site: site})
	}
	k, err := classify.Train(examples, classify.Options{})
	require.NoError(t, err)
	raw, err := json.Marshal(k)
	require.NoError(t, err)
	good, bad := filepath.Join(t.TempDir(), "good.json"), filepath.Join(t.TempDir(), "bad.json")
	require.NoError(t, os.WriteFile(good, raw, 0o600))
	require.NoError(t, os.WriteFile(bad, []byte("{}"), 0o600))
	of := func(named ...string) (*classify.Disciplines, error) {
		cfg := config.Defaults()
		cfg.Policy.Models.Disciplines = named
		return app.Disciplines(cfg)
	}

	none, err := of()
	require.NoError(t, err)
	require.Nil(t, none, "all are taken")
	d, err := of("gardening=" + good)
	require.NoError(t, err)
	name, sure := d.Best("", "lawn mower soil spade")
	require.Equal(t, "gardening", name)
	require.GreaterOrEqual(t, sure, classify.Sure)
	for _, named := range []string{good, "gardening=", "=" + good, "gardening=" + bad, "gardening=" + good + ".gone"} {
		_, err := of(named)
		require.ErrorContains(t, err, "models.disciplines")
		require.ErrorContains(t, err, filepath.Base(named))
	}
	_, err = of("gardening="+good, "gardening="+good)
	require.ErrorContains(t, err, "twice")
}
