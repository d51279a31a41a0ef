// Package activities is the seam between workflows and the rest: each activity
// decodes its arguments, heartbeats, calls one package of internal/, and gives
// its errors a type that says whether trying again helps. There is one struct a
// stage, whose fields are what it needs; New makes them all.
//
// Arguments and results carry ids, counts and decisions, never a page, a
// document, or a list that grows with the harvest.
package activities
