// Package devstack runs the two servers that Gleaner needs, Postgres and
// Temporal, as private children of this process: for `starter dev`, for the
// demo and for the tests. A server that the operator already has, given by its
// address, is used instead of a private one.
//
// Start brings both up and Stack.Stop takes both down. What they store lies in
// Options.DataDir and is there again at the next Start. While a stack is up,
// dev.json in that folder tells other commands where it is (Find), and a lock
// keeps a second stack out of the folder.
//
// # Where the servers come from
//
// Postgres: a DSN given; else the newest local binaries (PATH, Debian's and
// Homebrew's folders); else the download of embedded-postgres; else an error
// with the one command that installs it. Postgres refuses to run as root, so a
// root process runs it as an unprivileged user.
//
// Temporal: an address given; else `temporal` on PATH; else the binary in the
// user's cache, put there by building a pinned version from the Go module proxy,
// which the Go toolchain checks against the public checksum database. The SDK's
// testsuite.StartDevServer is not used: it downloads a binary that nothing is
// compared with, and has no hold on the server when this process is killed.
//
// # Nothing is left behind
//
// Children live in their own process groups, so that a keyboard interrupt
// reaches this process alone and it can stop them in order. On Linux they also
// carry a parent-death signal: when this process is killed outright, the kernel
// stops them. Elsewhere (macOS) there is no such thing; the next Start on the
// same data folder finds what was left running and stops it first.
package devstack
