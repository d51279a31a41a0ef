// Package fetch is the polite HTTP client: one request at a time per host, at
// the host's pace, never where robots.txt says no, never to an address that the
// operator did not allow, and with a limit on everything. Each way in which a
// fetch can end has a name (Outcome).
//
// New makes a Client from a Config. Fetch asks for one URL: for each hop of a
// chain of redirects it checks the address by name (address.go), asks robots.txt
// (robots.go), waits for a turn of the host (Gate) and sends one request through
// the engine (engine.go), a colly collector on a transport of this package.
// The transport (transport.go, dial.go, body.go, decode.go) checks the resolved
// address of each connection and reads the body within its limits, so that
// neither colly nor net/http ever cuts, inflates, re-encodes, redirects or
// repeats anything by itself.
//
// Pacing (pacing.go) is a pure function from what a visit told to the time of
// the next one; memoryGate (gate.go) applies it within one process, a gate on a
// database across many.
package fetch
