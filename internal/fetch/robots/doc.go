// Package robots reads robots.txt as RFC 9309 has it and says what an agent may
// ask for. Parse never fails: a line that cannot be read costs only itself, and
// what is not robots.txt at all (an HTML page, say) has no rules.
//
// It stands on temoto/robotstxt, which by itself fails a whole file for one bad
// line, lets the first rule win a tie, matches wildcards anywhere in a path,
// compares percent-encoded octets as they were typed and takes "my" for "mybot".
// So the file is first rewritten (clean.go): one group per product token, paths
// in one encoding, Allow before Disallow, nothing that the library stumbles over.
//
// Who decides: where a group has plain prefixes only, the library's yes is final.
// Its no is looked up here, to name the rule, and rules with "*" or "$" are matched
// here alone (match.go). A fuzz test and TestRealFiles hold both to the same answer
// on plain rules. Of 235 files of real servers 199 had rules for us, 102 of them
// prefixes alone; asked by itself, on the file as it is, the library said of every
// rule what is said here for 192. So it could not decide alone; what it brings is a yes in a third
// of the time (1.3 µs against 3.7 for 200 rules), from code that others use, too.
package robots
