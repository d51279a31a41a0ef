package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/devstack"
	"gleaner/internal/document"
	"gleaner/internal/each"
	"gleaner/internal/ingest/source"
	"gleaner/internal/render"
	"gleaner/internal/service/app"
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

// fail reports whether a check failed: with an error.
func (d *doctor) fail(check, do string, err error) bool {
	if err != nil {
		d.found = append(d.found, finding{levelFail, check, strings.Join(strings.Fields(err.Error()), " "), do})
	}
	return err != nil
}

func doctorCommand(c *cli) *cobra.Command {
	var network bool
	cmd := &cobra.Command{Use: "doctor", Short: "Check settings, servers, blob store, programs and clocks", Args: cobra.NoArgs,
		Long: `Check everything that a harvest needs, one line a check: ok, warn (it works, but
look at it) or FAIL with what to do. Nothing is changed; the blob store is tried
with a small file that is removed again. Exit code 1 if a check fails.`,
		Example: "  starter doctor\n  starter doctor --network --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := examine(cmd.Context(), c, network)
			err := c.printTable(found, "", each.Of(found, func(f finding) string {
				return strings.TrimSuffix(f.Level+"\t"+f.Check+"\t"+f.Found+" — "+f.Do, " — ")
			}))
			n := each.Count(found, func(f finding) bool { return f.Level == levelFail })
			if err == nil && n > 0 {
				err = fmt.Errorf("%d of %d checks failed", n, len(found))
			}
			return err
		}}
	cmd.Flags().BoolVar(&network, "network", false, "ask DBLP and the web search, too: one request each")
	return cmd
}

// checkTimeout bounds each group of checks.
const checkTimeout = 15 * time.Second

func examine(ctx context.Context, c *cli, network bool) []finding {
	d := &doctor{network: network, child: c.Child}
	cfg, err := c.Settings()
	if d.fail("settings", "correct it where it is from; `starter config` lists all settings", err) {
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
	all, where := config.Settings(), ""
	given := each.Count(all, func(s config.Setting) bool { return d.cfg.Origin(s.Key) != "default" })
	if _, dev := devstack.Find(d.cfg.Servers.DataDir); dev {
		where = "; a `starter dev` runs in " + d.cfg.Servers.DataDir
	}
	d.ok("settings", "%d of %d settings are given, the others have their defaults%s", given, len(all), where)
}

// identity says how the web sees a worker.
func (d *doctor) identity(context.Context) {
	client, err := app.Client(d.cfg)
	switch {
	case err != nil:
		d.fail("identity", "correct the setting named", err)
	case d.cfg.Web.Contact == "":
		d.warn("identity", "set GLEANER_CONTACT to an e-mail address or a page where web masters reach you", "%s: without a contact nothing but loopback and a proxy is asked", client.UserAgent())
	default:
		d.ok("identity", "User-Agent: %s; robots.txt group: gleaner", client.UserAgent())
	}
}

// proxied warns of what a proxy takes out of Gleaner's hands.
func (d *doctor) proxied(context.Context) {
	client, err := app.Client(d.cfg)
	if err != nil || !client.Proxied() {
		return // a wrong setting is named by identity
	}
	d.warn("proxy", "let the proxy refuse private addresses and metadata services, as Gleaner does without one",
		"a proxy looks names up itself; they are looked up here, too, where DNS answers, but what it connects to cannot be seen")
}

// readers are the programs that read files.
func (d *doctor) readers(context.Context) {
	for _, reader := range []struct{ name, packed, without string }{
		{"pdftotext", "poppler-utils", "PDFs are read by the built-in reader, which reads fewer and less of them"},
		{"gs", "ghostscript", "no PostScript is read"},
		{"catdoc", "catdoc", "no .doc and no .rtf is read"},
	} {
		if path, err := exec.LookPath(reader.name); err != nil {
			d.warn(reader.name, "install "+reader.packed, "not installed: %s", reader.without)
		} else {
			d.ok(reader.name, "%s", path)
		}
	}
	d.isolation(document.NewReader(document.Options{Child: d.child}).Isolation())
	d.browser()
	if !d.cfg.Documents.OCR {
		return
	}
	path, err := exec.LookPath("tesseract")
	if err != nil {
		d.fail("ocr", "install tesseract, or set GLEANER_OCR=false", errors.New("GLEANER_OCR is on, and tesseract is not installed"))
		return
	}
	d.ok("ocr", "%s", path)
}

// browser says whether pages that scripts make are shown.
func (d *doctor) browser() {
	if d.cfg.Policy.Crawl.Render == config.RenderOff {
		d.ok("browser", "not used: crawl.render is off")
		return
	}
	b, err := render.Find()
	if err == nil {
		err = b.Check()
	}
	switch {
	case errors.Is(err, render.ErrNotInstalled):
		d.ok("browser", "%v: what only scripts show is not found", err)
	case err != nil:
		d.warn("browser", "let the worker's user make user namespaces, or set crawl.render of the policy to off", "not used: %v", err)
	default:
		d.ok("browser", "%s, shut in without a network", b.Path())
	}
}

// isolation says how far the programs that read files are shut in.
func (d *doctor) isolation(i document.Isolation) {
	force := strings.Join(i.Has, ", ")
	if len(i.Lacks) > 0 {
		force += "; not in force: " + strings.Join(i.Lacks, ", ")
	}
	needed := []string{document.NoNetwork, document.NoFiles, document.NotAsRoot}
	if slices.ContainsFunc(i.Lacks, func(what string) bool { return slices.Contains(needed, what) }) {
		d.warn("readers", "run the worker as a user of its own, on Linux 5.13 or later with Landlock", "%s", force)
		return
	}
	d.ok("readers", "%s", force)
}

// disk looks at the folders of this machine that grow.
func (d *doctor) disk(context.Context) {
	dirs := []string{d.cfg.Servers.DataDir}
	if u, err := url.Parse(d.cfg.Servers.Repository); err == nil && u.Scheme == "file" {
		dirs = append(dirs, u.Path)
	}
	const enough, little = 5 << 30, 500 << 20
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err != nil {
			continue // it is made when it is needed
		}
		free, err := source.FreeBytes(dir)
		switch do := "make room, or see `starter prune --dry-run`"; {
		case err != nil:
			d.warn("disk", "", "%s: %v", dir, err)
		case free < little:
			d.fail("disk", do, fmt.Errorf("%s free for %s", byteSize(free), dir))
		case free < enough:
			d.warn("disk", do, "%s free for %s", byteSize(free), dir)
		default:
			d.ok("disk", "%s free for %s", byteSize(free), dir)
		}
	}
}

// outside asks the services that every harvest needs, once each.
func (d *doctor) outside(ctx context.Context) {
	if dump := d.cfg.Catalogues.DBLPDump; dump != "" {
		f, err := os.Open(dump)
		if !d.fail("dblp dump", "correct GLEANER_DBLP_DUMP, or fetch https://dblp.org/xml/dblp.xml.gz", err) {
			d.ok("dblp dump", "%s can be read", dump)
			f.Close()
		}
	}
	if !d.network {
		d.ok("network", "not asked: DBLP, the web search (starter doctor --network)")
		return
	}
	dblp := cmp.Or(d.cfg.Catalogues.DBLP, "https://dblp.org")
	if err := d.asksJSON(ctx, strings.TrimRight(dblp, "/")+"/search/publ/api?q=database&h=1&format=json"); err != nil {
		do := "volumes' pages and the mirror may answer still; for volumes and people a local dump (GLEANER_DBLP_DUMP) serves, too"
		d.warn("dblp", do, "the search does not answer: %v", err)
	} else {
		d.ok("dblp", "%s answers", dblp)
	}
	if !d.cfg.Search.On() {
		d.warn("search", "set GLEANER_SEARCH; a SearXNG of one's own is free", "no web search: homepages are taken from directories alone")
	}
	for _, engine := range d.cfg.Search.Providers {
		switch engine {
		case "none":
		case "searxng":
			base := strings.TrimRight(d.cfg.Search.SearXNG, "/")
			err := d.asksJSON(ctx, base+"/search?q=homepage&format=json")
			if !d.fail("search", "403: enable json under search.formats of its settings.yml; else check GLEANER_SEARXNG_URL", err) {
				d.ok("search", "%s answers in JSON", base)
			}
		default:
			d.ok("search", "%s, with a key; not asked, since each search counts", engine)
		}
	}
}

func (d *doctor) asksJSON(ctx context.Context, address string) error {
	client, err := app.ServiceClient(d.cfg)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, resp.Status)
	}
	var answer map[string]any
	if err := json.NewDecoder(io.LimitReader(resp.Body, 4<<20)).Decode(&answer); err != nil {
		return fmt.Errorf("%s: no JSON: it may be a wall for robots", address)
	}
	return nil
}
