package bench

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"gopkg.in/yaml.v3"

	"gleaner/internal/devstack"
	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/web/page"
)

//go:embed peers
var peerFiles embed.FS

// peer is a crawler of peers/peers.yaml.
type peer struct {
	Name, Keeps, Needs, Command string
	Install                     []string
}

// parts are the peers that are crawlers of this process.
var parts = map[string]func(context.Context, *Web, Options) (Run, error){
	"gleaner": crawlOnce, "temporal": temporalOnce, "colly": collyOnce, "bare": bareOnce,
}

// Crawl measures crawlers in turns, each on a new web of the same pages, and reports the
// median of each by pages a second.
func Crawl(ctx context.Context, o Options, report func(Run)) error {
	var peers []peer
	raw, err := peerFiles.ReadFile("peers/peers.yaml")
	err = errors.Join(err, yaml.Unmarshal(raw, &peers))
	if err == nil && o.Dir != "" {
		err = installedIn(o.Dir)
	}
	if err != nil {
		return err
	}
	for _, o.delay = range o.Delays {
		all := make([][]Run, len(peers))
		for round := range o.Rounds {
			for i, p := range peers {
				if slices.Contains(o.Names, p.Name) && (round == 0 || all[i][0].Missing == "") {
					r := p.measure(ctx, o)
					if all[i] = append(all[i], r); p.Name == "gleaner" && r.Missing != "" {
						return fmt.Errorf("bench: gleaner: %s", r.Missing)
					}
				}
			}
		}
		first := all[slices.IndexFunc(all, func(runs []Run) bool { return runs != nil })]
		for _, runs := range all {
			if runs != nil {
				report(median(runs, first))
			}
		}
	}
	return ctx.Err()
}

// median is the middle one of runs, with its ratio to the first crawler's.
func median(runs, first []Run) Run {
	ratios := []float64{0}
	for i, r := range runs {
		if r.Missing == "" && i < len(first) {
			ratios = append(ratios[:i], first[i].PagesPerSec/r.PagesPerSec)
		}
	}
	slices.Sort(ratios)
	sorted := slices.SortedFunc(slices.Values(runs), func(a, b Run) int { return cmp.Compare(a.PagesPerSec, b.PagesPerSec) })
	r := sorted[len(sorted)/2]
	r.Ratio = ratios[len(ratios)/2]
	return r
}

// installedIn makes the folder, and leads processes that are started to what is installed in it.
func installedIn(dir string) error {
	lib := dir + "/usr/lib"
	return errors.Join(os.MkdirAll(dir+"/deb/partial", 0o700),
		os.Setenv("PATH", dir+"/usr/bin:"+dir+"/bin:"+os.Getenv("PATH")),
		os.Setenv("LD_LIBRARY_PATH", lib+":"+lib+"/x86_64-linux-gnu:"+lib+"/aarch64-linux-gnu"),
		os.Setenv("PYTHONPATH", lib+"/python3/dist-packages"),
		os.Setenv("NODE_PATH", dir+"/node_modules"))
}

// measure crawls a new web.
func (p peer) measure(ctx context.Context, o Options) (r Run) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	web, stop, err := o.StartWeb()
	if err == nil {
		r, err = p.run(ctx, web, o)
		visits, ended := stop()
		count := scaleRun{ScaleOptions: ScaleOptions{Pace: o.delay}}
		count.count(visits, time.Now())
		if r.Requests = count.Requests; o.delay > 0 {
			r.Impolite = count.Impolite
		}
		for _, v := range visits {
			r.Pages += v.Pages
		}
		// Some fail where a file that pages link to is missing, but all pages have to be asked for.
		if want := web.Pages * len(web.Hosts); r.Pages == want && ended == nil {
			err = nil
		} else if r.Seconds > 0 {
			err = errors.Join(fmt.Errorf("asked for %d of %d pages", r.Pages, want), err, ended)
		}
		r.PagesPerSec = float64(r.Pages) / max(r.Seconds, 1e-9)
	}
	if r.Name, r.Keeps, r.Delay = p.Name, p.Keeps, o.delay.Seconds(); err != nil {
		r.Missing = strings.ReplaceAll(err.Error(), "\n", ": ")
	}
	return r
}

// run crawls in this process, or in one of the peer's.
func (p peer) run(ctx context.Context, web *Web, o Options) (r Run, err error) {
	if crawl := parts[p.Name]; crawl != nil {
		return crawl(ctx, web, o)
	}
	if err := p.provide(ctx, o); err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp("", "gleaner-peers-*")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	start := each.Of(web.Hosts, web.Start)
	err = errors.Join(os.CopyFS(dir, peerFiles), os.WriteFile(dir+"/urls", []byte(strings.Join(start, "\n")), 0o600))
	if err != nil {
		return r, err
	}
	return runProcess(ctx, dir, p.Command, map[string]string{
		"URLS":  strings.Join(start, ","),
		"HOSTS": strconv.Itoa(len(start)),
		"DELAY": fmt.Sprint(o.delay.Seconds()),
		"RATE":  fmt.Sprint(len(start) * int(time.Second/max(o.delay, time.Microsecond))),
	})
}

// provide installs a peer that is not there.
func (p peer) provide(ctx context.Context, o Options) error {
	_, err := exec.LookPath(p.Needs)
	if _, missing := os.Stat(filepath.Join(o.Dir, p.Needs)); err == nil || missing == nil {
		return nil
	}
	if o.NoInstall {
		return errors.New("not on this machine")
	}
	for _, command := range p.Install {
		if _, err := runProcess(ctx, o.Dir, command, map[string]string{"DIR": o.Dir}); err != nil {
			return fmt.Errorf("cannot be installed: %w", err)
		}
	}
	return nil
}

// runProcess runs a command as a group of processes, which ends with ctx.
func runProcess(ctx context.Context, dir, command string, values map[string]string) (Run, error) {
	args := strings.Fields(command)
	for i := range args {
		args[i] = os.Expand(args[i], func(name string) string { return values[name] })
	}
	var said strings.Builder
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // a command of peers.yaml
	cmd.Dir, cmd.Stderr = dir, &said
	began := time.Now()
	var m *meter
	err := devstack.RunGroup(cmd, func() { m = startMeter(cmd.Process.Pid, nil) })
	if m == nil {
		return Run{}, err
	}
	run := m.stop()
	run.Seconds = time.Since(began).Seconds()
	run.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if err != nil {
		said := strings.TrimSpace(said.String())
		err = fmt.Errorf("%s: %w: %s", args[0], cmp.Or(context.Cause(ctx), err), said[strings.LastIndexByte(said, '\n')+1:])
	}
	return run, err
}

// bareOnce crawls the web with a plain loop for each host, which parses pages as the crawler does.
func bareOnce(ctx context.Context, web *Web, o Options) (Run, error) {
	var all errgroup.Group
	m := startMeter(os.Getpid(), nil)
	for _, host := range web.Hosts {
		all.Go(func() error {
			waiting := []string{web.Start(host)}
			seen := map[string]bool{waiting[0]: true}
			for i := 0; i < len(waiting); i++ {
				p, err := bareGet(ctx, waiting[i])
				if err != nil {
					return err
				}
				for _, l := range p.Links {
					if l.Source == page.SourceAnchor && !seen[l.URL] && strings.HasPrefix(l.URL, "http://"+host+"/") {
						waiting, seen[l.URL] = append(waiting, l.URL), true
					}
				}
				if err := fetch.Wait(ctx, o.delay); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := all.Wait()
	return m.stop(), err
}

func bareGet(ctx context.Context, url string) (*page.Page, error) {
	answer, err := http.Get(url) //nolint:gosec,noctx // of the web of this machine; Crawl bounds it
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	return page.ParseContext(ctx, url, answer.Header, body)
}
