package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed report.html
var page string

// WriteHTML prints the report as one self-contained page.
func (r *Report) WriteHTML(w io.Writer) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"percent": RecallOf,
		"join":    strings.Join,
		"whole":   Whole,
		"year":    YearOf,
	}).Parse(page)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	groups := []group{}
	for _, why := range reasons {
		g := group{Reason: why}
		for _, m := range r.Missing {
			if m.Reason == why {
				g.Papers = append(g.Papers, m)
			}
		}
		if len(g.Papers) > 0 {
			groups = append(groups, g)
		}
	}
	ended := ""
	if e := r.Ended; e != nil {
		ended = e.words(r, "2 January 2006, 15:04")
	}
	return t.Execute(w, map[string]any{
		"R": r, "Ended": ended, "Groups": groups, "Site": r.ofSite(), "LeftOut": r.leftOut(), "Links": r.linksOnRecord(), "Charts": r.Charts(),
	})
}

// Charts holds the charts of a report for a page that sets the colours of the classes held, found
// and missing.
type Charts struct{ Papers, Recall, Reasons template.HTML }

// Charts returns the charts of the report.
func (r *Report) Charts() Charts {
	return Charts{
		Papers:  template.HTML(papersChart(r.Years)), // #nosec G203: numbers of our own
		Recall:  template.HTML(recallChart(r.Years)), // #nosec G203
		Reasons: reasonsChart(r),
	}
}

type group struct {
	Reason Reason
	Papers []MissingPaper
}
