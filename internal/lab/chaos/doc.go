// Package chaos harvests a sample web, with an import and a collection by topic
// beside it, while it breaks what they run on:
// it kills workers, Postgres and Temporal, freezes processes past their leases,
// cuts connections, fills the disk, takes the blob store away, lets the web
// answer nothing, and starts further harvests of the same sites. Then it holds
// the outcome against a harvest of the same web that nothing disturbed.
//
// It judges from outside: by the programs' own output, by what lies in the
// database and in the blob folder, and by the web server's log. Every run
// follows from its seed, but for the timing of the machine.
package chaos
