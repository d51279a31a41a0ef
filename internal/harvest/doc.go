// Package harvest holds the stages of a harvest between its crawls: listing what
// a venue published and which of it is wanted, locating open copies, finding the
// authors' homepages, and giving both to the frontier. Each stage writes to the
// record as it goes and can be run again from any point.
package harvest
