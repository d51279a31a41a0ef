package pool

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"gleaner/internal/service/telemetry"
)

// TestTracesLeaveWhereAnEndpointIsNamed gives the process a collector.
func TestTracesLeaveWhereAnEndpointIsNamed(t *testing.T) {
	var sent atomic.Int32
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/traces" && r.ContentLength > 0 {
			sent.Add(1)
		}
	}))
	defer collector.Close()
	quiet := slog.New(slog.DiscardHandler)
	without, err := telemetry.New(t.Context(), "test", "1", func(string) string { return "" }, quiet)
	require.NoError(t, err)
	var o client.Options
	require.NoError(t, instrument(without, &o, quiet))
	require.Empty(t, o.Interceptors, "nobody wants traces")

	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	with, err := telemetry.New(t.Context(), "test", "1", os.Getenv, quiet)
	require.NoError(t, err)
	require.NoError(t, instrument(with, &o, quiet))
	require.Len(t, o.Interceptors, 1)
	_, span := with.Tracer("test").Start(t.Context(), "one")
	span.End()
	require.NoError(t, with.Close(t.Context()))
	require.Equal(t, int32(1), sent.Load())
}
