//go:build !linux

package document

const nobodyID = -1
