// Package topicweb generates a web of many topics: hosts that are about one, in
// islands that only pages off topic lead between, among many more hosts that are
// about something else. Pages are made when they are asked for; two webs of equal
// Options are the same. Which page is about which topic is known (Web.About), so that
// crawls by topic can be judged.
//
// Page serves a crawl in the process; Serve is an HTTP forward proxy with a search
// engine in SearXNG's shape, and keeps a log of what was asked for.
package topicweb
