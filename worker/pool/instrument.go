package pool

import (
	"fmt"
	"log/slog"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"

	"gleaner/internal/service/telemetry"
)

// instrument makes a Temporal client, and the workers on it, tell of themselves.
func instrument(tel *telemetry.Telemetry, o *client.Options, log *slog.Logger) error {
	o.MetricsHandler = opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter:   tel.Meter("temporal"),
		OnError: func(err error) { log.Warn("a metric of the Temporal SDK is lost", "error", err) },
	})
	tracer := tel.Tracer("temporal")
	if tracer == nil {
		return nil
	}
	tracing, err := opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{Tracer: tracer})
	if err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	o.Interceptors = append([]interceptor.ClientInterceptor{tracing}, o.Interceptors...)
	return nil
}
