package console

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStatisticsAreDrawn: growth by month, pauses between requests and domains are
// pictures that say what they show, and the same stands in a table beside each.
func TestStatisticsAreDrawn(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	d.exec(`UPDATE documents SET discovered_at = (date_trunc('month', now() AT TIME ZONE 'UTC') - interval '3 months') AT TIME ZONE 'UTC' WHERE sha256=$1`, sampleSHA)
	d.exec(`UPDATE documents SET state='rejected' WHERE sha256=$1`, otherSHA)
	d.exec(`INSERT INTO domains (domain, documents, citations, p_documents, p_citations, f1, rank, list) VALUES ($1, 12, 3, .5, .5, .5, 1, 'D')`, "a&b."+hostile)
	d.exec(`INSERT INTO sites (host, pace_by) VALUES ('asked-for-a-homepage.example', 'its answers')`)
	page := d.page("/statistics")
	drawn := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1)
	require.Len(t, drawn, 3)
	require.Contains(t, page, "counts once here")
	for i, svg := range drawn {
		require.Contains(t, svg,
			`role="img" aria-label="`+[]string{"Documents by month", "Sites by the pause", "Documents by domain"}[i])
		for r := xml.NewDecoder(strings.NewReader(svg)); ; {
			_, err := r.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, svg)
		}
	}
	require.NotContains(t, page, "<script>alert")
	require.NotContains(t, page, "<img src=x")
	p := answer[statisticsPage](d, "/statistics")
	require.Len(t, p.Months, 4)
	require.Equal(t, []int{1, 1, 0, 0, 1, 0}, []int{p.Months[0].Documents, p.Months[0].Accepted, p.Months[1].Documents, p.Months[2].Documents, p.Months[3].Documents, p.Months[3].Accepted})
	require.Len(t, p.Paces, 1)
	require.Equal(t, "up to 2 s", p.Paces[0].Every)
	require.Equal(t, []int{1, 1}, []int{p.Paces[0].Sites, p.Paces[0].Resting})
	require.Contains(t, page, "<td>up to 2 s</td>")
}
