package activities

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/service/notify"
)

// channel takes messages while it is open.
type channel struct {
	open bool
	got  []notify.Message
}

func (*channel) Name() string { return "a channel" }

func (c *channel) Send(_ context.Context, m notify.Message) error {
	if !c.open {
		return errors.New("closed")
	}
	c.got = append(c.got, m)
	return nil
}

// TestNewsThatDidNotArriveAreSentAgain, and what arrived is not.
func TestNewsThatDidNotArriveAreSentAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := record(t)
	c := &channel{}
	a := &Notices{db: db, channels: []notify.Channel{c}}
	n, err := a.TellNews(ctx)
	require.NoError(t, err, "there are none")
	require.Zero(t, n)
	_, err = db.Pool.Exec(ctx, `
		UPDATE chores SET last=last-interval '1 hour', claimed_until=claimed_until-interval '1 hour';
		INSERT INTO sites (host, state, reason, crawl_finished)
		VALUES ('a.example', 'refused', 'robots', now() - interval '30 minutes')`)
	require.NoError(t, err)
	for _, open := range []bool{false, true, true} {
		c.open = open
		_, err = a.TellNews(ctx)
		require.Equal(t, open, err == nil, err)
	}
	require.Len(t, c.got, 1)
}
