package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/each"
	"gleaner/internal/record/collections"
	"gleaner/internal/text"
	"gleaner/internal/topic"
	"gleaner/worker/pool"
	"gleaner/workflows"
)

// followCollection shows collections being made until they are.
func followCollection(ctx context.Context, c *cli, t client.Client, record *collections.Record, name string) error {
	l := &collectionView{record: record, name: name, begun: time.Now()}
	id := workflows.CollectionsID(name)
	err := c.awaitShown(ctx, t, id, l, func(ctx context.Context) (pool.Seen, error) { return pool.LookAt(ctx, t, id) }, nil)
	if ctx.Err() != nil && !c.JSON {
		fmt.Fprintf(c.Err, "%[1]s continues in the background\nlook at it:  starter collections show %[1]s\nend it:      starter cancel collections/%[1]s\n", name)
	}
	if err != nil {
		return err
	}
	return showCollection(ctx, c, record, name)
}

// collectionView is collections by topic as they are shown to somebody who waits for them.
type collectionView struct {
	record *collections.Record
	name   string
	begun  time.Time

	viewState
	id     int // 0 before the first look
	ask    synthesis.Request
	topics []string
	at     collections.CrawlState
	n      collections.Counts
}

func (l *collectionView) refresh(ctx context.Context) error {
	if err := l.first(ctx); err != nil {
		return err
	}
	at, err := l.record.State(ctx, l.id)
	if err != nil {
		return err
	}
	n, err := l.record.Counts(ctx, l.id)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.n = at, n
	l.past = recentSamples(l.past, sample{time.Now(), at.Requests, 0})
	return nil
}

// first asks for what does not change.
func (l *collectionView) first(ctx context.Context) error {
	if l.id != 0 {
		return nil
	}
	got, err := l.record.Get(ctx, l.name)
	if err != nil {
		return err
	}
	ask, topics, err := synthesis.RequestOf(got)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ask = ask
	l.topics = each.Of(topics, func(t topic.Topic) string { return t.ID })
	l.id = got.ID
	return nil
}

// stage says what is being done.
func (l *collectionView) stage() string {
	switch {
	case l.at.Ended:
		return "ended"
	case l.at.Paused:
		return "paused"
	case l.at.Requests == 0 && l.n.Waiting == 0:
		return "searching"
	}
	return "collecting"
}

// filled is how many entries there are, and how many topics have all of theirs.
func (l *collectionView) filled() (entries, full int) {
	for _, f := range l.at.Topics {
		entries += f.Entries
		if f.Entries >= l.ask.Size {
			full++
		}
	}
	return entries, full
}

// asked says how many requests there were, of how many.
func (l *collectionView) asked() string {
	of := ""
	if l.ask.MaxPages > 0 {
		of = fmt.Sprintf(" of %d", l.ask.MaxPages)
	}
	return fmt.Sprintf("%d%s requests", l.at.Requests, of)
}

func (l *collectionView) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.id == 0 {
		return ""
	}
	entries, full := l.filled()
	s := fmt.Sprintf("%s [%s] topics %d, full %d | entries %d | %s, hosts %d, waiting %d", l.name, l.stage(), len(l.topics), full, entries, l.asked(), l.n.Hosts, l.n.Waiting)
	if rate, _ := rates(l.past); rate > 0 {
		s += fmt.Sprintf(" | %.1f requests a second", rate)
	}
	return s
}

func (l *collectionView) Lines(width, height int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.id == 0 {
		return nil
	}
	entries, full := l.filled()
	rate, _ := rates(l.past)
	lines := []string{headLine(l.name+"  "+l.stage(), time.Since(l.begun), width),
		"topics     " + countBar(full, len(l.topics)) + " full; " + text.Count(entries, "entry"),
		fmt.Sprintf("web        %s to %s; %s waiting; %.1f requests a second", l.asked(), text.Count(l.n.Hosts, "host"), text.Count(l.n.Waiting, "link"), rate)}
	if l.stage() == "searching" && len(l.doing) > 0 {
		lines = append(lines, "now        "+strings.Join(l.doing, "; "))
	}
	return append(lines, l.ofTopics(width, height-len(lines))...)
}

// ofTopics are lines of the topics, the emptiest first, as many as there is room for.
func (l *collectionView) ofTopics(width, room int) []string {
	topics := slices.Clone(l.topics)
	slices.SortStableFunc(topics, func(a, b string) int { return l.at.Topics[a].Entries - l.at.Topics[b].Entries })
	itself := func(topic string) string { return topic }
	return linesThatFit(topics, room, width-40, itself, func(topic, name string) string {
		return "  " + name + "  " + countBar(l.at.Topics[topic].Entries, l.ask.Size)
	})
}
