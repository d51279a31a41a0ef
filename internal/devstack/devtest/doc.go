// Package devtest gives tests a real Postgres and a real Temporal server.
//
// Both are shared by all tests of a test binary and started at the first use.
// Where GLEANER_TEST_DATABASE_URL and GLEANER_TEST_TEMPORAL_ADDRESS name running
// ones, those are used: `make test` starts one pair for all packages that way.
// Each test has a database and a namespace of its own, so tests run in parallel
// and see nothing of each other.
package devtest
