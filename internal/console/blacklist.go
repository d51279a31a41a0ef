package console

import (
	"context"
	"fmt"
	"strings"

	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/internal/web/weburl"
)

// blacklistPage lists hosts that are never asked, by name.
type blacklistPage struct {
	Hosts []store.Blocked `json:"hosts"`
	Next  string          `json:"next,omitempty"`
	Host  string          `json:"host,omitempty"` // that the form names
}

func blacklist(ctx context.Context, c *Console, a *asked) (any, error) {
	rows, err := c.App.DB.Blacklist(ctx, a.get("after"), pageSize+1)
	p := blacklistPage{Host: a.get("host")}
	p.Hosts, p.Next = more(rows, func(b store.Blocked) string { return b.Host })
	return p, err
}

// What may be done to the blacklist.
const (
	doAdd    = "add"
	doRemove = "remove"
)

// block puts a host on the blacklist or takes it off: both with a reason, which is in
// the list, or in the console's log.
func block(ctx context.Context, c *Console, a *asked) (any, error) {
	host, reason := weburl.HostNamed(a.get("host")), strings.TrimSpace(a.get("reason"))
	if host == "" {
		return nil, fmt.Errorf("%w: %q is no host such as www.example.edu", errInput, a.get("host"))
	}
	if len(reason) > 500 {
		return nil, fmt.Errorf("%w: the reason has more than 500 bytes", errInput)
	}
	var err error
	if a.get("do") == doAdd {
		var why string
		if why, err = c.App.DB.Blocked(ctx, host); err == nil && why != "" {
			err = fmt.Errorf("%w: %s: %s; take it off first to give another reason", errInput, host, why)
		}
		if err == nil {
			err = c.App.DB.Block(ctx, []store.Blocked{{Host: host, Reason: reason}})
		}
	} else {
		var was bool
		if was, err = c.App.DB.Unblock(ctx, host); err == nil && !was {
			err = program.Unknown{Reason: fmt.Errorf("%s is not on the blacklist", host)}
		}
	}
	says := map[string]string{
		doAdd:    "is on the blacklist: nobody asks it any more",
		doRemove: "is off the blacklist: it may be asked again",
	}
	return c.done(ctx, a, donePage{host, says[a.get("do")], redirect{to: a.was("/blacklist")}}, err, "reason", reason)
}
