package archive

import (
	"strings"
	"time"
)

// Date reads a date of any precision: those of WARC 1.1 (W3C, "Date and Time Formats",
// from the year alone), and those of 4 to 14 digits. A wrong one is zero; what is
// missing of one is its beginning.
func Date(said string) time.Time {
	said = strings.ToUpper(strings.TrimSpace(said))
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15Z07:00", "2006-01-02T15:04:05",
		"2006-01-02T15:04", "2006-01-02T15", "2006-01-02", "2006-01", "2006"} {
		if t, err := time.Parse(layout, said); err == nil {
			return t
		}
	}
	const digits = "20060102150405"
	if strings.Trim(said, "0123456789") != "" {
		return time.Time{}
	}
	for n := min(len(said)&^1, len(digits)); n >= 4; n -= 2 {
		if t, err := time.Parse(digits[:n], said[:n]); err == nil {
			return t
		}
	}
	return time.Time{}
}
