// Package telemetry makes Gleaner visible to those who run it: logs, metrics,
// traces and health.
package telemetry
