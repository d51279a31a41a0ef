// Package robots reads robots.txt as RFC 9309 has it and says what an agent may
// ask for. Parse never fails: a line that cannot be read costs only itself, and
// what is not robots.txt at all (an HTML page, say) has no rules.
//
// It stands on temoto/robotstxt, which by itself fails a whole file for one bad
// line, lets the first rule win a tie, matches wildcards anywhere in a path,
// compares percent-encoded octets as they were typed and takes "my" for "mybot".
// So the file is first rewritten (clean.go): one group per product token, paths
// in one encoding, Allow before Disallow, nothing that the library stumbles over.
// The library then decides where a group has plain prefixes only; rules with "*"
// or "$" are matched here (match.go).
package robots
