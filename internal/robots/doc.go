// Package robots decides what a site allows, by RFC 9309. It parses and matches
// only; fetching and caching robots.txt is the business of package fetch.
package robots
