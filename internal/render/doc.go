// Package render renders pages built by scripts, in a Chromium without network. Find finds an
// installed one, and Check tests it in its box. Show loads a fetched page and returns it after
// its scripts ran. Each request of the page is intercepted in the browser and answered by the
// caller's Get, one at a time, or refused.
//
// A browser renders one page. It runs in its own user, process, mount and network namespaces,
// under Chromium's sandbox, never as root, with its profile in memory. Without all of that no
// page is rendered. Limits are in limits.go.
package render
