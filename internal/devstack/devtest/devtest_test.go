package devtest_test

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/devtest/temporaltest"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

func TestEachTestHasItsOwnDatabase(t *testing.T) {
	t.Parallel()
	for range 2 {
		conn, err := pgx.Connect(t.Context(), devtest.Postgres(t))
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "create table only_once as select * from record") // the schema is there
		require.NoError(t, err)
		require.NoError(t, conn.Close(t.Context()))
	}
}

func TestEachTestHasItsOwnNamespace(t *testing.T) {
	t.Parallel()
	_, one := temporaltest.Temporal(t)
	c, _, two := temporaltest.Client(t)
	require.NotEqual(t, one, two)
	_, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: two, Query: "GleanerVenue = 'conf/x' and GleanerHost = 'a' and GleanerStage = 'b'",
	})
	require.NoError(t, err)
}
