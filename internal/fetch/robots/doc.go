// Package robots reads robots.txt as RFC 9309 has it and says what an agent may
// ask for. Parse never fails: a line that cannot be read costs only itself, and
// what is not robots.txt at all (an HTML page, say) has no rules.
//
// temoto/robotstxt decides, but in the cases of one table (overrules), each with an example
// about which the library differs. For most of them the file is rewritten: one group per
// product token, paths in one encoding, Allow before Disallow. A group with "*" or "$" is
// matched here. Of 235 files of real servers 199 had rules for us, 102 of them prefixes
// alone.
package robots
