package crawl

import (
	"fmt"

	"gleaner/internal/record/frontier"
)

// allowance is what the harvests that want a site may still bring, of all their
// sites together.
type allowance struct {
	limited bool
	left    int64 // in bytes
}

// brings counts what an answer takes to keep, in bytes: as it came, or as what it
// was compressed to.
func (l *loop) brings(e *frontier.Entry, bytes int64) {
	s := l.sections.of(e.Link.URL)
	s.Bytes, s.Changed = s.Bytes+bytes, true
	l.passed = l.passed || l.heavy(s)
	l.crawl.Bytes += bytes
	l.share.left -= bytes
}

// overBytes ends a crawl that brought as many bytes as one site, or all sites of a
// harvest, may: a site can make as many files as it likes.
func (l *loop) overBytes() error {
	limit := l.cfg.MaxBytes
	if !l.spent(l.heavy) {
		limit *= sharedHost
	}
	switch {
	case limit > 0 && l.crawl.Bytes >= limit:
		return &errStop{ending: ByteLimit, reason: fmt.Sprintf("%s: %s in this crawl, the limit of a site is %s", ByteLimit, gigabytes(l.crawl.Bytes), gigabytes(limit))}
	case l.share.limited && l.share.left <= 0:
		return &errStop{ending: ByteLimit, reason: fmt.Sprintf("%s: %s of all sites of the harvest, the limit is %s",
			ByteLimit, gigabytes(l.cfg.HarvestBytes-l.share.left), gigabytes(l.cfg.HarvestBytes))}
	}
	return nil
}

func gigabytes(n int64) string { return fmt.Sprintf("%.4g GB", float64(n)/1e9) }
