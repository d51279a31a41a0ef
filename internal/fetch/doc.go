// Package fetch is the polite HTTP client: one request at a time per host, at
// the host's pace, never where robots.txt says no, never to an address that the
// operator did not allow, and with a limit on everything. Each way in which a
// fetch can end has a name (Outcome).
//
// New makes a Client from a Config. Fetch asks for one URL: colly (colly.go) makes
// the request, follows redirects and reads the body, over a chain of round
// trippers that New puts together, each with one job. From the outermost inwards:
// where a redirect leads, and whether it may (redirect.go); what robots.txt lets be
// asked for (robotscheck.go); which hosts are not to be asked for anything
// (blacklist.go); names that a proxy would resolve (localname.go); a
// turn of the host, from the Gate (turn.go); how large an answer becomes and the
// memory that it takes (limits.go); its codings (decode.go); its time and its bytes
// on the wire (watch.go); the way out, whose dial checks each address (exit.go,
// dial.go). What they know of a fetch stands in its exchange (exchange.go), which
// travels in the requests' context. Each hop of a redirect goes down the whole
// chain, a robots.txt all of it but for the check of robots.txt; an error of the
// chain is an *Error. Catalogues and search engines are asked by the inner part of it,
// too, from the turn on (api.go).
//
// Pacing (pacing.go) is a pure function from what a visit told to the time of
// the next one; memoryGate (gate.go) applies it within one process, a gate on a
// database across many.
package fetch
