package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/devstack"
	"gleaner/internal/document"
	"gleaner/internal/each"
	"gleaner/internal/service/config"
)

// Levels of a finding.
const (
	levelOK   = "ok"
	levelWarn = "warn"
	levelFail = "FAIL"
)

// finding is one line of `starter doctor`.
type finding struct {
	Level string `json:"level"`
	Check string `json:"check"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // what would mend it
}

// doctor looks at everything that a harvest needs.
type doctor struct {
	child   document.Child
	cfg     *config.Config
	network bool
	found   []finding
	notOurs error // why the blob store is not the record's
}

func (d *doctor) ok(check, format string, args ...any) {
	d.found = append(d.found, finding{levelOK, check, fmt.Sprintf(format, args...), ""})
}

func (d *doctor) warn(check, do, format string, args ...any) {
	d.found = append(d.found, finding{levelWarn, check, fmt.Sprintf(format, args...), do})
}

func (d *doctor) fail(check, do string, err error) {
	d.found = append(d.found, finding{levelFail, check, strings.Join(strings.Fields(err.Error()), " "), do})
}

func (c *cli) doctorCommand() *cobra.Command {
	var network bool
	cmd := &cobra.Command{Use: "doctor", Short: "Check settings, servers, blob store, programs and clocks", Args: cobra.NoArgs,
		Long: `Check everything that a harvest needs, one line a check: ok, warn (it works, but
look at it) or FAIL with what to do. Nothing is changed; the blob store is tried
with a small file that is removed again. Exit code 1 if a check fails.`,
		Example: "  starter doctor\n  starter doctor --network --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := c.examine(cmd.Context(), network)
			if err := c.Print(found, func(w io.Writer) error { return writeFindings(w, found) }); err != nil {
				return err
			}
			if n := countLevel(found, levelFail); n > 0 {
				return fmt.Errorf("%d of %d checks failed", n, len(found))
			}
			return nil
		}}
	cmd.Flags().BoolVar(&network, "network", false, "ask DBLP and the web search, too: one request each")
	return cmd
}

func countLevel(found []finding, level string) int {
	return each.Count(found, func(f finding) bool { return f.Level == level })
}

func writeFindings(w io.Writer, found []finding) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range found {
		line := f.Found
		if f.Do != "" {
			line += " — " + f.Do
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.Level, f.Check, line)
	}
	return t.Flush()
}

// checkTimeout bounds each group of checks.
const checkTimeout = 15 * time.Second

func (c *cli) examine(ctx context.Context, network bool) []finding {
	d := &doctor{network: network, child: c.Child}
	cfg, err := c.Settings()
	if err != nil {
		d.fail("settings", "correct it where it is from; `starter config` lists all settings", err)
		return d.found
	}
	d.cfg = cfg
	for _, check := range []func(context.Context){d.settings, d.identity, d.proxied, d.database, d.temporal, d.blobs, d.disk, d.readers, d.outside} {
		bounded, cancel := context.WithTimeout(ctx, checkTimeout)
		check(bounded)
		cancel()
	}
	return d.found
}

// settings looks for what Load cannot know to be wrong.
func (d *doctor) settings(context.Context) {
	var strange []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		known := name == "GLEANER_CONFIG" || name == "GLEANER_SHARED" || strings.HasPrefix(name, "GLEANER_TEST_") || config.IsVariable(name)
		if strings.HasPrefix(name, "GLEANER_") && !known {
			strange = append(strange, name)
		}
	}
	if len(strange) > 0 {
		slices.Sort(strange)
		d.warn("settings", "check the spelling; `starter config` lists all names", "no setting is called %s", strings.Join(strange, ", "))
		return
	}
	given := each.Count(d.cfg.Show(), func(v config.Value) bool { return v.Origin != "default" })
	where := ""
	if _, dev := devstack.Find(d.cfg.Servers.DataDir); dev {
		where = "; a `starter dev` runs in " + d.cfg.Servers.DataDir
	}
	d.ok("settings", "%d of %d settings are given, the others have their defaults%s", given, len(config.Settings()), where)
}
