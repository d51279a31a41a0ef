// Package render shows pages that scripts make, in a Chromium that has no network. Find
// finds one that is installed, Check tries it out in its box; Show gives it a page that was
// fetched before and returns the page as its scripts leave it. Each request of the page is
// stopped within the browser and answered by the caller's Get, one after the other, or
// refused.
//
// A browser lives for one page. It runs in user, process, mount and network spaces of its
// own, under Chromium's own sandbox, never as root, and its profile lies in memory that
// goes with it. Without all of that no page is shown. Bounds are in limits.go.
package render
