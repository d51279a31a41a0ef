package devstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// oldestPostgres is the oldest major version that Gleaner's schema runs on.
const oldestPostgres = 13

// downloadedPostgres is the version taken where none is installed.
const downloadedPostgres = embeddedpostgres.V16

// findPostgres returns a folder with initdb and postgres. A cluster made
// earlier can only be served by its own major version, given in want.
func findPostgres(ctx context.Context, o Options, want string) (string, error) {
	best, bestMajor := "", 0
	seen := []string{}
	for _, dir := range postgresDirs() {
		major := postgresMajor(ctx, dir)
		if major == 0 {
			continue
		}
		if want != "" && fmt.Sprint(major) == want {
			return dir, nil
		}
		seen = append(seen, dir)
		if want == "" && major >= oldestPostgres && major > bestMajor {
			best, bestMajor = dir, major
		}
	}
	if best != "" {
		return best, nil
	}
	dir, err := downloadPostgres(ctx, o, want)
	if err == nil {
		return dir, nil
	}
	if want != "" {
		return "", fmt.Errorf("the data folder holds a PostgreSQL %s cluster, and that version is not installed (found: %s; download: %w): install it with: %s",
			want, strings.Join(seen, ", "), err, installCommand(want))
	}
	return "", fmt.Errorf("no PostgreSQL %d or newer is installed and it cannot be downloaded (%w): install it with: %s", oldestPostgres, err, installCommand(""))
}

func installCommand(major string) string {
	if runtime.GOOS == "darwin" {
		return "brew install postgresql@" + cmp.Or(major, "16")
	}
	if major != "" {
		return "apt-get install postgresql-" + major
	}
	return "apt-get install postgresql"
}

// postgresDirs lists where initdb may be: PATH, then Debian, Red Hat, Homebrew
// on both kinds of Macs, and Postgres.app.
func postgresDirs() []string {
	var dirs []string
	if p, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",
		"/usr/pgsql-*/bin",
		"/opt/homebrew/opt/postgresql*/bin",
		"/usr/local/opt/postgresql*/bin",
		"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
		"/usr/local/pgsql/bin",
	} {
		found, _ := filepath.Glob(pattern) // the patterns are well formed
		dirs = append(dirs, found...)
	}
	return dirs
}

var versionNumber = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// postgresMajor asks the server binary itself; 0 when there is none to ask.
func postgresMajor(ctx context.Context, dir string) int {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return 0
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	m := versionNumber.FindSubmatch(out)
	if err != nil || m == nil {
		return 0
	}
	var major int
	if _, err := fmt.Sscan(string(m[1]), &major); err != nil {
		return 0
	}
	return major
}

// downloadPostgres lets embedded-postgres fetch and unpack its binaries, and
// returns their folder. Only that part of it is used: its way of starting the
// server leaves it running when this process is killed, and cannot run it as
// another user.
func downloadPostgres(ctx context.Context, o Options, want string) (string, error) {
	version := string(downloadedPostgres)
	if major, _, _ := strings.Cut(version, "."); want != "" && want != major {
		return "", fmt.Errorf("only PostgreSQL %s is offered", major)
	}
	home := o.CacheDir
	if os.Geteuid() == 0 { // another user has to be able to execute it
		home = "/var/cache/gleaner"
	}
	unpacked := filepath.Join(home, "postgres-"+version)
	bin := filepath.Join(unpacked, "bin")
	if postgresMajor(ctx, bin) != 0 {
		return bin, nil
	}
	const repository = "https://repo1.maven.org/maven2"
	if err := reachable(ctx, repository+"/io/zonky/test/postgres/"); err != nil {
		return "", err
	}
	port, err := freePort(0)
	if err != nil {
		return "", err
	}
	server := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
		Version(downloadedPostgres).BinaryRepositoryURL(repository).Port(uint32(port)).
		RuntimePath(unpacked).DataPath(filepath.Join(unpacked, "unused")).
		CachePath(filepath.Join(home, "download")).Logger(io.Discard))
	o.Progress("downloading PostgreSQL " + version)
	done := make(chan error, 1)
	go func() {
		err := server.Start()
		if err == nil {
			err = server.Stop()
		}
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if postgresMajor(ctx, bin) != 0 { // unpacked, whether or not it then ran (as root it does not)
		_ = os.RemoveAll(filepath.Join(unpacked, "unused"))
		return bin, nil
	}
	return "", errors.Join(errors.New("the download brought no server"), err)
}

// reachable fails fast where the internet is closed: ten seconds at most.
func reachable(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode >= 400 {
		return fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return nil
}
