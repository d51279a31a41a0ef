package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"gleaner/internal/each"
	"gleaner/internal/harvest/reconcile"
)

// Telemetry is what one process tells of itself.
type Telemetry struct {
	Metrics  *Metrics
	registry *prometheus.Registry
	meters   *sdkmetric.MeterProvider
	traces   *sdktrace.TracerProvider // nil where traces go nowhere
	log      *slog.Logger
}

// endpoints are the variables of the OpenTelemetry specification that say where
// traces go; the exporter reads them and their kin itself.
var endpoints = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}

// New makes the telemetry of a service, such as "gleaner-worker".
func New(ctx context.Context, service, version string, getenv func(string) string, log *slog.Logger) (*Telemetry, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	exporter, err := otelprom.New(otelprom.WithRegisterer(registry), otelprom.WithoutScopeInfo(), otelprom.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	t := &Telemetry{Metrics: newMetrics(registry, each.Text(reconcile.Kinds())...), registry: registry, meters: sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter)), log: log}
	if getenv(endpoints[0]) == "" && getenv(endpoints[1]) == "" {
		return t, nil
	}
	host, _ := os.Hostname()
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", service), attribute.String("service.version", version), attribute.String("host.name", host)),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	out, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("telemetry: traces: %w", err)
	}
	t.traces = sdktrace.NewTracerProvider(sdktrace.WithBatcher(out), sdktrace.WithResource(about))
	return t, nil
}

// Registry takes further collectors.
func (t *Telemetry) Registry() *prometheus.Registry { return t.registry }

// Meter takes the metrics of a library that speaks OpenTelemetry.
func (t *Telemetry) Meter(name string) metric.Meter { return t.meters.Meter(name) }

// Tracer takes its traces; it is nil where traces go nowhere.
func (t *Telemetry) Tracer(name string) trace.Tracer {
	if t.traces == nil {
		return nil
	}
	return t.traces.Tracer(name)
}

// Close sends what traces are left.
func (t *Telemetry) Close(ctx context.Context) error {
	err := t.meters.Shutdown(ctx)
	if t.traces != nil {
		err = errors.Join(err, t.traces.Shutdown(ctx))
	}
	return err
}
