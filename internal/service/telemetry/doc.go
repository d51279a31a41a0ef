// Package telemetry makes Gleaner visible to those who run it: logs, metrics,
// traces and health.
//
// Metrics come from three places. What a process does (requests, pages, time
// taken) is counted as it happens, by Metrics, which is an app.Watch. What the
// record holds (documents, waiting URLs, parked hosts) is asked of the database
// when somebody scrapes, by RecordCollector, seldom enough to cost it little.
// What the Temporal SDK knows of its workers comes through OpenTelemetry. All
// are served in Prometheus' format; every worker gives the same numbers of the
// record, so that a sum over workers is taken of the first kind alone.
//
// Traces leave only where OTEL_EXPORTER_OTLP_ENDPOINT says whereto.
package telemetry
