// Package frontier keeps every URL ever met on a site in Postgres: those that
// wait to be asked for, and what became of the others. The table is urls; a row
// is identified by the site and the hash of the URL's identity (weburl.Key), so
// meeting a URL again changes nothing but, where it was met by a shorter way,
// its depth.
//
// A site's waiting rows are indexed by (queue, mark, priority, seq), so that the
// best of each mark are found in time that does not depend on how many wait.
package frontier
