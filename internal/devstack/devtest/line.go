package devtest

import (
	"net/url"
	"testing"

	"gleaner/internal/devstack/line"
)

// Lay gives a DSN that leads to the database of dsn over a line.
func Lay(tb testing.TB, dsn string) (through string, l *line.Line) {
	tb.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	if l, err = line.New(u.Host); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(l.Close)
	u.Host = l.Address()
	return u.String(), l
}
