//go:build !unix

package main

import "errors"

func freeBytes(string) (int64, error) {
	return 0, errors.New("free room cannot be told on this system")
}
