// Package temporalapi asks a Temporal server for what workers, tests and benchmarks need
// beyond running workflows. It is apart from package devstack so that what needs Postgres
// alone does not link Temporal's client.
package temporalapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"gleaner/internal/guard"
)

// StartWorkflows starts workflows of a type, by their ids, each with its argument.
func StartWorkflows(ctx context.Context, address, namespace, queue, kind string, args map[string]any) error {
	c, err := dial(ctx, address, namespace)
	if err != nil {
		return err
	}
	defer c.Close()
	g, ctx := guard.WithContext(ctx)
	g.SetLimit(16)
	for id, arg := range args {
		g.Go(func() error {
			_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: queue}, kind, arg)
			return err
		})
	}
	return g.Wait()
}

// Histories returns the ids of the workflows that are open in a namespace, how many runs
// have ended, and the events of those.
func Histories(ctx context.Context, address, namespace string) (open []string, ended int, events int64, err error) {
	c, err := dial(ctx, address, namespace)
	if err != nil {
		return nil, 0, 0, err
	}
	defer c.Close()
	for r := (&workflowservice.ListWorkflowExecutionsRequest{PageSize: 1000}); ; {
		list, err := c.ListWorkflow(ctx, r)
		if err != nil {
			return open, ended, events, err
		}
		for _, e := range list.Executions {
			if e.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
				open = append(open, e.Execution.WorkflowId)
				continue
			}
			ended, events = ended+1, events+e.HistoryLength
		}
		if r.NextPageToken = list.NextPageToken; len(r.NextPageToken) == 0 {
			return open, ended, events, nil
		}
	}
}

// EnsureSearchAttributes adds those of want (name → type) that the namespace
// lacks. It fails while the server or the namespace is not there.
func EnsureSearchAttributes(ctx context.Context, address, namespace string, want map[string]string) error {
	c, err := dial(ctx, address, namespace)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	if err != nil {
		return err
	}
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return err
	}
	missing := map[string]enumspb.IndexedValueType{}
	for name, kind := range want {
		if _, ok := have.GetCustomAttributes()[name]; ok {
			continue
		}
		t, err := enumspb.IndexedValueTypeFromString(kind)
		if err != nil {
			return fmt.Errorf("search attribute %s: %w", name, err)
		}
		missing[name] = t
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	var exists *serviceerror.AlreadyExists
	if errors.As(err, &exists) || (err != nil && strings.Contains(err.Error(), "already exist")) {
		return nil // another process was quicker
	}
	return err
}

func dial(ctx context.Context, address, namespace string) (client.Client, error) {
	quiet := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	return client.DialContext(ctx, client.Options{HostPort: address, Namespace: namespace, Logger: quiet})
}
