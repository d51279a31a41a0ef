// Package reconcile compares the record with the workflows that are to move it,
// and finds what a crash, a termination or a lost Temporal server left behind:
// sites that are crawled for ever, harvests that nobody runs, documents that
// nobody judges, leases of the dead.
//
// decide is a pure function of two lists, what the record says and what runs.
// Reconciler gathers both, the record first: what was under way then and does
// not run now, while its row is still the same, was abandoned. Each repair is
// made only where the row has not changed since, so that two reconcilers, or one
// beside a worker that comes back, do no harm.
package reconcile
