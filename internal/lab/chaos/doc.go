// Package chaos harvests a sample web, with an import and a collection by topic
// beside it, while it breaks what they run on: it kills workers, Postgres and
// Temporal, freezes processes past their leases, cuts connections, fills the disk,
// takes the blob store away, lets the web answer nothing, and starts further
// harvests of the same sites. Then it holds the outcome against one that nothing
// disturbed.
//
// It judges from outside: by the programs' own output, by what lies in the
// database and in the blob folder, and by the web server's log. Every run
// follows from its seed, but for the timing of the machine. An hour without
// Postgres, without Temporal or with a full disk is a run of its own:
//
//	make chaos CHAOS='-faults 1 -kinds "Postgres away" -outage 1h'
//
// likewise "Temporal away" and "disk full for long".
package chaos
