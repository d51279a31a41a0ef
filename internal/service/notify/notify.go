package notify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"gleaner/internal/record/store"
	"gleaner/internal/service/config"
	"gleaner/internal/text"
)

// Message is what is told.
type Message struct {
	ID      string    // the same where one is told again
	At      time.Time // when it was written
	Subject string
	Text    string
	Data    any // for programs
}

// Channel is a way to tell somebody. Send takes no longer than longest.
type Channel interface {
	Name() string
	Send(ctx context.Context, m Message) error
}

// longest is how long a channel may take for one message.
const longest = 30 * time.Second

// Open makes the channels of the settings; none where none is set. The webhook is
// reached by way, nil being net/http's own.
func Open(cfg config.Notify, way http.RoundTripper) ([]Channel, error) {
	var all []Channel
	if cfg.Webhook != "" {
		w, err := newWebhook(string(cfg.Webhook), string(cfg.Key), way)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	if cfg.SMTP == "" {
		return all, nil
	}
	if cfg.MailFrom == "" || cfg.MailTo == "" {
		return nil, errors.New("config: notify-smtp: notices by mail want notify-mail-from and notify-mail-to, too")
	}
	m, err := newMail(string(cfg.SMTP), cfg.MailFrom, cfg.MailTo)
	if err != nil {
		return nil, err
	}
	return append(all, m), nil
}

// Of writes news down.
func Of(n store.News) Message {
	m := Message{ID: "news-" + n.Since.UTC().Format("20060102T150405.000000Z"), At: time.Now(), Data: n}
	var heads []string
	var b strings.Builder
	for _, h := range n.Harvests {
		heads = append(heads, h.Harvest+" "+string(h.Stage))
		c := h.Counts
		fmt.Fprintf(&b, "%s %s: published %d, held %d, wanted %d, found %d, missing %d; since it was begun found %d, lost %d, changed %d\n",
			h.Harvest, h.Stage, c.Published, c.Held, c.Wanted, c.Found, c.Wanted-c.Found, h.New.Found, h.New.Lost, h.New.Changed)
		if h.Note != "" {
			fmt.Fprintf(&b, "  %s\n", h.Note)
		}
		fmt.Fprintf(&b, "  starter report %s --since LAST\n\n", h.Harvest)
	}
	if n.Refusals > 0 {
		heads = append(heads, text.Count(n.Refusals, "site")+" refused")
		fmt.Fprintf(&b, "%s refused:\n", text.Count(n.Refusals, "site"))
		for _, s := range n.Refused {
			fmt.Fprintf(&b, "  %s: %s\n", s.Host, s.Reason)
		}
		if more := n.Refusals - len(n.Refused); more > 0 {
			fmt.Fprintf(&b, "  and %d more\n", more)
		}
		b.WriteString("\n")
	}
	if n.Filled {
		heads = append(heads, text.Count(n.Review, "match")+" to review")
		fmt.Fprintf(&b, "%s to review:\n  starter review\n", text.Count(n.Review, "match"))
	}
	m.Subject = "Gleaner: " + strings.Join(heads[:min(len(heads), 3)], ", ")
	if len(heads) > 3 {
		m.Subject += " and more"
	}
	m.Text = strings.TrimSpace(b.String()) + "\n"
	return m
}

// Test is a message that says that messages arrive.
func Test() Message {
	now := time.Now()
	return Message{ID: "test-" + now.UTC().Format("20060102T150405.000000Z"), At: now, Subject: "Gleaner: a test", Text: "Notices of Gleaner arrive here.\n", Data: map[string]any{"test": true}}
}
