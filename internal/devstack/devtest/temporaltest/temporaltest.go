// Package temporaltest gives a test a namespace of its own on a real Temporal server. It
// is apart from package devtest so that tests which need Postgres alone do not link
// Temporal's client.
package temporaltest

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/temporalapi"
	"gleaner/internal/gleaner"
)

// Temporal returns the address of a Temporal server and a namespace that is this test's
// own, with the search attributes of Gleaner in it.
func Temporal(tb testing.TB) (address, namespace string) {
	tb.Helper()
	address = devtest.TemporalServer(tb, temporalapi.EnsureSearchAttributes)
	namespace = "test-" + strings.ToLower(rand.Text())
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := register(ctx, address, namespace); err != nil {
		tb.Fatalf("test namespace: %v", err)
	}
	return address, namespace
}

func register(ctx context.Context, address, namespace string) error {
	c, err := client.NewNamespaceClient(client.Options{HostPort: address})
	if err != nil {
		return err
	}
	defer c.Close()
	err = c.Register(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace:                        namespace,
		WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	if err != nil {
		return err
	}
	// The namespace becomes visible to the frontend a moment later.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err = temporalapi.EnsureSearchAttributes(ctx, address, namespace, gleaner.SearchAttributes())
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w (last: %w)", ctx.Err(), err)
		}
	}
}
