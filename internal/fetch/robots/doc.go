// Package robots parses robots.txt as in RFC 9309 and decides what an agent may request. Parse
// never fails: it ignores an invalid line, and a file that is no robots.txt (such as an HTML
// page) has no rules.
//
// The library temoto/robotstxt decides, except in the cases of one table (overrules), each with
// an example of a different result. For most of them the file is rewritten: one group per product
// token, paths in one encoding, Allow before Disallow. Groups with "*" or "$" are matched here.
// Of 235 files of real servers, 199 had rules for us, 102 of them only prefixes.
package robots
