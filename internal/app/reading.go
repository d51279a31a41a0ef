package app

import "context"

// ReadingOf is what WithReading told, or nothing.
func ReadingOf(ctx context.Context) Reading {
	r, _ := ctx.Value(readingKey{}).(Reading)
	return r
}
