package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
)

// table2 prints what crawl policies gave, in the shape of Wu et al. (WebSci 2012), Table 2.
func (f *statsFlags) table2(ctx context.Context, c *cli, a *app.App, _ string) error {
	begin, err := dayFlag("from", f.from)
	if err != nil {
		return err
	}
	end, err := dayFlag("to", f.to)
	if err == nil && !begin.IsZero() && !end.IsZero() && !begin.Before(end) {
		err = fmt.Errorf("%w: --from, %s, is not before --to, %s", program.ErrUsage, f.from, f.to)
	}
	if err != nil {
		return err
	}
	var rows []store.Yield
	for _, file := range f.beside {
		more, err := readYields(file)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	own, err := a.DB.PolicyYields(ctx, begin, cmp.Or(end, time.Now().Add(24*time.Hour)))
	rows = append(rows, own...)
	return printOne(c, rows, err, func(w io.Writer, _ []store.Yield) error { return writeTable2(w, rows, f.perDay, f.paper) })
}

// paperTable2 are the ratios of Wu et al. (WebSci 2012), Table 2: F/Q, G/N, G/Q and G/P.
func paperTable2() [][5]string {
	return [][5]string{
		{"blacklist (paper)", "15.28 %", "20.33 %", "0.11 %", "0.750"},
		{"whitelist (paper)", "38.09 %", "49.61 %", "0.52 %", "1.082"},
		{"hybrid (paper)", "15.64 %", "32.47 %", "0.07 %", "1.021"},
	}
}

func writeTable2(w io.Writer, rows []store.Yield, perDay, paper bool) error {
	var l lines
	for _, y := range rows {
		count := func(n int) string {
			if perDay {
				return fmt.Sprintf("%.1f", float64(n)/max(y.Days, 1))
			}
			return strconv.Itoa(n)
		}
		l.add("%s\t%d\t%.1f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", y.Policy, y.Crawls, max(y.Days, 1),
			count(y.Requests), count(y.Fetched), count(y.New), count(y.Good), count(y.Parents), count(y.GoodParents),
			ratio(y.Fetched, y.Requests), ratio(y.New, y.Fetched), ratio(y.Good, y.Fetched), ratio(y.Good, y.New), ratio(y.Good, y.Requests),
			perPage(y.Good, y.Parents), ratio(y.GoodParents, y.Parents))
	}
	if paper {
		for _, p := range paperTable2() {
			l.add("%s\t\t\t\t\t\t\t\t\t%s\t\t\t%s\t%s\t%s\t", p[0], p[1], p[2], p[3], p[4])
		}
	}
	return table(w, "POLICY\tCRAWLS\tDAYS\tQ\tF\tN\tG\tP\tP_G\tF/Q\tN/F\tG/F\tG/N\tG/Q\tG/P\tP_G/P", l)
}

func readYields(file string) (rows []store.Yield, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	if err := json.Unmarshal(raw, &rows); err != nil {
		return nil, fmt.Errorf("%w: %s is no table that `starter stats table2 --json` printed: %w", program.ErrUsage, file, err)
	}
	return rows, nil
}

func ratio(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f %%", 100*float64(part)/float64(whole))
}

func perPage(n, pages int) string {
	if pages == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", float64(n)/float64(pages))
}

func dayFlag(flag, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	t, err := time.ParseInLocation(time.DateOnly, value, time.Local)
	if err != nil {
		return t, fmt.Errorf("%w: --%s: want a day such as 2026-01-31, not %q", program.ErrUsage, flag, value)
	}
	return t, nil
}
