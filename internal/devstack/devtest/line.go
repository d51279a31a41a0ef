package devtest

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/line"
)

// Lay gives a DSN that leads to the database of dsn over a line.
func Lay(tb testing.TB, dsn string) (through string, l *line.Line) {
	tb.Helper()
	u, err := url.Parse(dsn)
	require.NoError(tb, err)
	l, err = line.New(u.Host)
	require.NoError(tb, err)
	tb.Cleanup(l.Close)
	u.Host = l.Address()
	return u.String(), l
}
