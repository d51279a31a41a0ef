package crawl

import (
	"context"
	"fmt"

	"gleaner/internal/fetch"
)

// received counts what an answer takes to keep, in bytes: as it came, or as what
// it was compressed to.
func (s *slice) received(resp *fetch.Response) {
	s.brings(max(resp.Bytes, int64(len(resp.Body))))
}

func (s *slice) brings(bytes int64) {
	s.crawl.Bytes += bytes
	s.share -= bytes
}

// unpacked counts the members of an archive: of that there may be a thousand times
// what was received.
func (s *slice) unpacked(ctx context.Context) error {
	if len(s.unjudged) < 2 {
		return nil
	}
	n, err := s.db.BytesOf(ctx, s.unjudged)
	s.brings(n)
	return err
}

// loadShare asks what the harvests that want this site may still bring: the one
// that may bring most counts. Slices that go on at the same time see what the
// others bring when they begin.
func (s *slice) loadShare(ctx context.Context) error {
	had, watched, err := s.db.HarvestBytes(ctx, s.site.ID)
	s.limited = watched && s.cfg.HarvestBytes > 0
	s.share = s.cfg.HarvestBytes - had
	return err
}

// overBytes ends a crawl that brought as many bytes as one site, or all sites of a
// harvest, may: a site can make as many files as it likes.
func (s *slice) overBytes() error {
	switch {
	case s.cfg.MaxBytes > 0 && s.crawl.Bytes >= s.cfg.MaxBytes:
		return &errStop{ending: ByteLimit, reason: fmt.Sprintf("%s: %s in this crawl, the limit of a site is %s", ByteLimit, gigabytes(s.crawl.Bytes), gigabytes(s.cfg.MaxBytes))}
	case s.limited && s.share <= 0:
		return &errStop{ending: ByteLimit, reason: fmt.Sprintf("%s: %s of all sites of the harvest, the limit is %s",
			ByteLimit, gigabytes(s.cfg.HarvestBytes-s.share), gigabytes(s.cfg.HarvestBytes))}
	}
	return nil
}

func gigabytes(n int64) string { return fmt.Sprintf("%.4g GB", float64(n)/1e9) }
