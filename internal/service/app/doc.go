// Package app opens what activities and commands need (database, blob store,
// polite client, readers, sources) from the settings, in one place, and closes
// it again. It is the only package that knows how the parts fit together.
package app
