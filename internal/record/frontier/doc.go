// Package frontier stores every URL ever met on a site in Postgres: those that wait for a
// request, and the outcomes of the others. The table is urls. A row is identified by the
// site and the hash of the URL's identity (weburl.Key), so that meeting a URL again can only
// improve its row.
//
// A site's waiting rows are indexed by (queue, mark, priority, seq), so that the
// best of each mark are found in time that does not depend on how many wait.
package frontier
