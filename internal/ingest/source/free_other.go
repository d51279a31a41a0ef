//go:build !unix

package source

import "errors"

// FreeBytes fails.
func FreeBytes(string) (int64, error) {
	return 0, errors.New("free room cannot be told on this system")
}
