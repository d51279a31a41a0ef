// Package bench measures the crawler against a web of its own on the loopback
// interface, with politeness off: Crawl compares it, with its durable frontier
// and all its checks, with colly alone on the same pages; Frontier measures what
// the next URL costs, and how much memory a slice takes, as the frontier grows.
// What it needs is a Postgres server on which it may make databases.
package bench
