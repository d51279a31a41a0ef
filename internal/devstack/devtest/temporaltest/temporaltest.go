// Package temporaltest gives a test a namespace of its own on a real Temporal server. It
// is apart from package devtest so that tests which need Postgres alone do not link
// Temporal's client.
package temporaltest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/temporalapi"
	"gleaner/internal/gleaner"
)

// longest is for how long a busy machine may keep a test waiting for its namespace.
const longest = 5 * time.Minute

// Temporal returns the address of a Temporal server and a namespace that is this test's
// own, with the search attributes of Gleaner in it.
func Temporal(tb testing.TB) (address, namespace string) {
	tb.Helper()
	address = devtest.TemporalServer(tb, temporalapi.EnsureSearchAttributes)
	namespace = "test-" + strings.ToLower(rand.Text())
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	require.NoError(tb, register(ctx, address, namespace), "test namespace")
	return address, namespace
}

// Client returns a client of a namespace that is this test's own, and where that is.
func Client(tb testing.TB) (c client.Client, address, namespace string) {
	tb.Helper()
	address, namespace = Temporal(tb)
	c, err := client.Dial(client.Options{
		HostPort:          address,
		Namespace:         namespace,
		Logger:            log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
		ConnectionOptions: client.ConnectionOptions{GetSystemInfoTimeout: longest},
	})
	require.NoError(tb, err, "test namespace")
	tb.Cleanup(c.Close)
	return c, address, namespace
}

// register makes a namespace. The SDK gives each call ten seconds, which a busy machine
// exceeds: then the server may have made it nevertheless.
func register(ctx context.Context, address, namespace string) error {
	c, err := client.NewNamespaceClient(client.Options{HostPort: address})
	if err != nil {
		return err
	}
	defer c.Close()
	request := &workflowservice.RegisterNamespaceRequest{
		Namespace:                        namespace,
		WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	}
	registered := false
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if !registered {
			err = c.Register(ctx, request)
			var exists *serviceerror.NamespaceAlreadyExists
			registered = err == nil || errors.As(err, &exists)
		}
		if registered { // the namespace becomes visible to the frontend a moment later
			if err = temporalapi.EnsureSearchAttributes(ctx, address, namespace, gleaner.SearchAttributes()); err == nil {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w (last: %w)", ctx.Err(), err)
		}
	}
}
