// Package politeness keeps the promise that no host sees more than one request
// in flight, or two closer than its delay, whatever the number of workers.
//
// The promise is kept by one row a host (table sites): a lease (holder, token,
// expires_at) that one process can hold, and next_allowed_at, when the next
// request may be sent. All times are the database's, so workers' clocks do not
// matter. A Lease is held over a slice of a crawl; Keeper.Turn takes one for a
// single request. The token increases with each change of holder, and every write
// of a holder checks it, so that a holder that lost its lease writes nothing.
package politeness
