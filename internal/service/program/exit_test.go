package program

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"gleaner/internal/library/repository"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
)

// TestExitCodes are those that the help lists, however deep an error lies.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	some := errors.New("some")
	for code, all := range map[int][]error{
		ExitFailed: {some},
		ExitUsage: {ErrUsage, &biblio.SyntaxError{}, store.ErrHarvestRuns, collections.ErrMade,
			app.ErrSettings, repository.ErrScheme, &pgconn.ParseConfigError{}},
		ExitUnknown: {store.ErrNoHarvest, store.ErrNoDocument, store.ErrNoPaper, store.ErrNoMatch, store.ErrNoJob, store.ErrNoURL,
			store.ErrNoSource, collections.ErrNone, Unknown{some}},
		ExitUnavailable: {store.ErrUnreachable, app.ErrNoDatabase, Unreachable{some}},
	} {
		for _, err := range all {
			require.Equal(t, code, ExitCode(fmt.Errorf("starter: %w", err)), err)
		}
	}
	require.Equal(t, ExitOK, ExitCode(nil))
}
