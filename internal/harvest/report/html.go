package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"gleaner/internal/each"
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
	ended := ""
	if e := r.Ended; e != nil {
		ended = e.words(r, "2 January 2006, 15:04")
	}
	return t.Execute(w, map[string]any{
		"R": r, "Ended": ended, "Groups": r.groups(), "Site": r.ofSite(), "LeftOut": r.leftOut(), "Links": r.linksOnRecord(), "Charts": r.Charts(),
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

// group is the papers that are missing for one reason.
type group struct {
	Reason Reason
	Papers []MissingPaper
}

func (r *Report) groups() (all []group) {
	for _, why := range reasons {
		of := each.Where(r.Missing, func(m MissingPaper) bool { return m.Reason == why })
		if len(of) > 0 {
			all = append(all, group{why, of})
		}
	}
	return all
}
