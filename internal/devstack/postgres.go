package devstack

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	clusterDir  = "postgres"
	clusterFile = "gleaner.json" // inside the cluster folder: they go together
	dbOwner     = "postgres"     // the cluster's superuser
	dbUser      = "gleaner"
	dbName      = "gleaner"
)

// cluster is what is remembered of the private cluster.
type cluster struct {
	Port     int    `json:"port"`
	Password string `json:"password"` // of dbUser
	Owner    string `json:"owner"`    // the password of dbOwner
}

func (c cluster) dsn(user, password, database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(user, password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)), Path: "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

func (s *Stack) startPostgres(ctx context.Context, o Options) error {
	if o.DatabaseURL != "" {
		s.DatabaseURL = o.DatabaseURL
		return ping(ctx, o.DatabaseURL)
	}
	dir := filepath.Join(o.DataDir, clusterDir)
	bin, err := findPostgres(ctx, o, clusterVersion(dir))
	if err != nil {
		return err
	}
	if clusterVersion(dir) == "" {
		o.Progress("creating the database cluster")
		if err := createCluster(ctx, bin, dir); err != nil {
			return err
		}
	}
	c, err := loadCluster(dir)
	if err != nil {
		return err
	}
	if c.Port, err = choosePort(o.Ports.Postgres, c.Port); err != nil {
		return err
	}
	if err := saveCluster(dir, c); err != nil {
		return err
	}
	run, err := newPGRunner(bin, dir)
	if err != nil {
		return err
	}
	defer run.close()
	o.Progress("starting Postgres")
	cmd := run.command(context.Background(), "postgres", append([]string{"-D", run.dataArg}, settings(c.Port, o)...)...)
	// A fast shutdown: it writes a checkpoint, and nothing has to be recovered.
	s.postgres, err = startChild("Postgres", cmd, filepath.Join(o.DataDir, "postgres.log"), syscall.SIGINT)
	if err != nil {
		return err
	}
	s.DatabaseURL = c.dsn(dbUser, c.Password, dbName)
	return s.postgres.ready(ctx, func(ctx context.Context) error {
		err := createDatabase(ctx, c, o.Statements)
		var refusal *pgconn.PgError
		if errors.As(err, &refusal) && strings.HasPrefix(refusal.Code, "28") { // invalid authorization
			return refused{fmt.Errorf("devstack: the cluster in %s does not take the password in its %s: "+
				"move the folder away and start again with an empty record (%w)", dir, clusterFile, err)}
		}
		return err
	})
}

// refused is an error that does not pass by waiting.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

// createCluster makes the cluster beside its place and moves it there when it
// is whole, so that an interrupt never leaves half of one.
func createCluster(ctx context.Context, bin, dir string) error {
	unfinished := dir + ".new"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	run, err := newPGRunner(bin, unfinished)
	if err != nil {
		return err
	}
	defer run.close()
	c := cluster{Password: rand.Text(), Owner: rand.Text()}
	if err := run.initdb(ctx, c.Owner); err != nil {
		return errors.Join(err, os.RemoveAll(unfinished))
	}
	if err := saveCluster(unfinished, c); err != nil {
		return err
	}
	// An empty folder may stand in the way; anything else is not ours to remove.
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("devstack: %s is in the way of a new cluster: %w", dir, err)
	}
	return os.Rename(unfinished, dir)
}

// settings tune the cluster for one machine and one application. fsync stays
// on but for tests: what is in the record after a commit is there after a power cut.
func settings(port int, o Options) []string {
	conf := map[string]string{
		"port":                         strconv.Itoa(port),
		"listen_addresses":             "127.0.0.1",
		"unix_socket_directories":      "",
		"max_connections":              "200",
		"shared_buffers":               "256MB",
		"maintenance_work_mem":         "128MB",
		"max_wal_size":                 "2GB",
		"checkpoint_timeout":           "15min",
		"checkpoint_completion_target": "0.9",
		"random_page_cost":             "1.1",
		"max_locks_per_transaction":    "256",
		"jit":                          "off",
		"log_checkpoints":              "off",
	}
	if o.Statements {
		conf["shared_preload_libraries"] = "pg_stat_statements"
	}
	if o.Disposable {
		conf["synchronous_commit"], conf["fsync"], conf["full_page_writes"] = "off", "off", "off"
	}
	args := make([]string, 0, 2*len(conf))
	for name, value := range conf {
		args = append(args, "-c", name+"="+value)
	}
	return args
}

// createDatabase succeeds once the server answers and the database exists. Its
// role is no superuser: injected SQL reaches no file and no program. It may make
// databases and, from Postgres 15 on, ask for a checkpoint, as tests and benchmarks do.
func createDatabase(ctx context.Context, c cluster, statements bool) error {
	conn, err := pgx.Connect(ctx, c.dsn(dbOwner, c.Owner, "postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := compressLog(ctx, conn); err != nil {
		return err
	}
	var role, database, checkpoints bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1),
		EXISTS (SELECT FROM pg_database WHERE datname = $2), EXISTS (SELECT FROM pg_roles WHERE rolname = 'pg_checkpoint')`,
		dbUser, dbName).Scan(&role, &database, &checkpoints)
	if err == nil && !role { // the password has no quote: rand.Text
		_, err = conn.Exec(ctx, "CREATE ROLE "+dbUser+" LOGIN NOSUPERUSER CREATEDB NOCREATEROLE PASSWORD '"+c.Password+"'")
	}
	if err == nil && !role && checkpoints {
		_, err = conn.Exec(ctx, "GRANT pg_checkpoint TO "+dbUser)
	}
	if err == nil && !database {
		_, err = conn.Exec(ctx, "CREATE DATABASE "+dbName+" OWNER "+dbUser)
	}
	if err != nil || !statements {
		return err
	}
	template, err := pgx.Connect(ctx, c.dsn(dbOwner, c.Owner, "template1"))
	if err != nil {
		return err
	}
	_, err = template.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
	return errors.Join(err, template.Close(ctx))
}

// compressLog has whole pages compressed in the log: by lz4 where the server was
// built with it, which takes a fraction of the time of its own method.
func compressLog(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "ALTER SYSTEM SET wal_compression = 'lz4'"); err != nil {
		if _, err := conn.Exec(ctx, "ALTER SYSTEM SET wal_compression = 'on'"); err != nil {
			return err
		}
	}
	_, err := conn.Exec(ctx, "SELECT pg_reload_conf()")
	return err
}

func ping(ctx context.Context, dsn string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("cannot reach the database given by GLEANER_DATABASE_URL: %w", err)
	}
	return conn.Close(ctx)
}

// clusterVersion is the major version of the cluster in dir, "" when there is
// none.
func clusterVersion(dir string) string {
	raw, err := os.ReadFile(filepath.Join(dir, "PG_VERSION"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

func loadCluster(dir string) (cluster, error) {
	var c cluster
	raw, err := os.ReadFile(filepath.Join(dir, clusterFile))
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return c, fmt.Errorf("devstack: the cluster's password: %w", err)
	}
	return c, nil
}

func saveCluster(dir string, c cluster) error {
	raw, err := json.Marshal(c) // #nosec G117 -- into a file of the user alone
	if err != nil {
		return err
	}
	return writeFileAtomic(filepath.Join(dir, clusterFile), raw)
}

// choosePort is the port asked for, which must be free, or one that is, best the one of
// the last run.
func choosePort(asked, last int) (int, error) {
	if asked == 0 {
		return freePort(last)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(asked)))
	if err != nil {
		return 0, fmt.Errorf("%w: 127.0.0.1:%d", ErrPort, asked)
	}
	return asked, l.Close()
}

// freePort returns want when it is free on the loopback, else one that is.
func freePort(want int) (int, error) {
	for _, port := range []int{want, 0} {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		port = l.Addr().(*net.TCPAddr).Port
		return port, l.Close()
	}
	return 0, errors.New("devstack: no free TCP port on 127.0.0.1")
}

// ready polls check until it succeeds or is refused, the child dies, ctx ends or
// readyTimeout has passed.
func (c *child) ready(ctx context.Context, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check(ctx)
		var no refused
		if err == nil || errors.As(err, &no) {
			return err
		}
		select {
		case <-c.done:
			return fmt.Errorf("%s did not start: %w", c.name, c.exitError())
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w (last: %w; see %s)", c.name, ctx.Err(), err, c.logFile)
		case <-tick.C:
		}
	}
}
