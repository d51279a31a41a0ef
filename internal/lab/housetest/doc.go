// Package housetest has no code of its own: its tests hold the repository to
// docs/architecture.md (who may import whom, how long a file and a function may
// be) and the deployment files to the code (names of settings, search
// attributes, queues).
package housetest
