// Package fetch is the polite HTTP client. It sends one request at a time per host, at the host's
// pace, as robots.txt allows, and only to allowed addresses, with a limit on everything. Each
// result of a fetch has a name (Outcome).
//
// New returns a Client for a Config. Fetch requests one URL: colly (colly.go) sends the request,
// follows redirects and reads the body over a chain of round trippers, each with one job. From
// the outermost inwards, they check redirects (redirect.go), robots.txt (robotscheck.go), the
// operator's blacklist (blacklist.go) and names that a proxy would resolve (localname.go), take a
// turn of the host from the Gate (turn.go), limit sizes and memory (limits.go), decode
// (decode.go), limit time and bytes on the wire (watch.go), record (tape.go), and send the
// request, with a check of each address when it is dialled (exit.go, dial.go). They share the
// exchange of a fetch (exchange.go) in the requests' context. Each hop of a redirect passes the
// whole chain, and a robots.txt all of it except the check of robots.txt. An error of the chain
// is an *Error. Catalogues and search engines use the chain from the turn on (api.go).
//
// Pacing (pacing.go) is a pure function from the result of a visit to the time of the next one.
// memoryGate (gate.go) applies it within one process, package politeness across many.
package fetch
