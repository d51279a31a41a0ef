// Package weburl knows what makes two addresses the same page: it mends and
// canonicalises URLs as browsers do (WHATWG URL), and names hosts, registrable
// domains and path prefixes. All functions are pure.
package weburl
