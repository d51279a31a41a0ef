// Package recrawl decides when a page, a document or a site is worth asking
// again: an interval of its own for each, longer where nothing had changed and
// shorter where something had (the adaptive schedule of Nutch), within bounds.
// All functions are pure; what they decide is stored with the URL (interval_s,
// due_at) and with the site.
package recrawl
