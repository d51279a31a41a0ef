// Package fetch is the polite HTTP client: one request at a time per host, at
// the host's pace, never where robots.txt says no, never to an address that the
// operator did not allow, and with a limit on everything. Each way in which a
// fetch can end has a name (Outcome).
package fetch
