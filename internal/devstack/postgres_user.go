package devstack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// pgRunner starts Postgres's programs on one cluster folder, as an unprivileged
// user when this process is root.
type pgRunner struct {
	bin     string
	dir     string
	dataArg string // what -D is given
	user    *syscall.Credential
	open    *os.File
}

// newPGRunner makes the cluster folder and decides who runs Postgres.
//
// An ordinary user runs it as themselves. Root cannot: Postgres refuses. It
// then runs as `postgres` or `nobody`, to whom the cluster folder is given. That
// user is often barred from the folders above it (/root, a fresh mktemp -d), and
// opening those to the world is not ours to do. So the folder is handed over as
// an open descriptor: /proc/self/fd/3 names it without walking its parents.
func newPGRunner(bin, dir string) (*pgRunner, error) {
	r := &pgRunner{bin: bin, dir: dir, dataArg: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("devstack: cluster folder: %w", err)
	}
	if os.Geteuid() != 0 {
		return r, nil
	}
	cred, err := unprivileged()
	if err != nil {
		return nil, err
	}
	r.user = cred
	if err := give(dir, cred); err != nil {
		return nil, fmt.Errorf("devstack: giving %s to an unprivileged user: %w", dir, err)
	}
	if r.open, err = os.Open(dir); err != nil {
		return nil, err
	}
	if runtime.GOOS == "linux" {
		r.dataArg = "/proc/self/fd/3" // the first of ExtraFiles
	}
	return r, nil
}

func unprivileged() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if errors.Join(err1, err2) == nil && uid != 0 {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("devstack: Postgres refuses to run as root and there is no user `postgres` or `nobody`: start as an ordinary user, or create one with: useradd --system postgres")
}

// give changes the owner of dir and all below it, when it is not right already.
func give(dir string, cred *syscall.Credential) error {
	st, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok && sys.Uid == cred.Uid && sys.Gid == cred.Gid {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(cred.Uid), int(cred.Gid))
	})
}

// initdb fills the empty folder with a cluster.
func (r *pgRunner) initdb(ctx context.Context, password string) error {
	pw, err := r.passwordFile(password)
	if err != nil {
		return err
	}
	defer func() { _ = pw.Close(); _ = os.Remove(pw.Name()) }()
	cmd := r.command(ctx, "initdb", "-D", r.dataArg, "-U", dbOwner,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-instructions")
	cmd.ExtraFiles = append(cmd.ExtraFiles, pw)
	cmd.Args = append(cmd.Args, fmt.Sprintf("--pwfile=/dev/fd/%d", 2+len(cmd.ExtraFiles)))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb failed: %w\n%s", err, out)
	}
	return nil
}

func (r *pgRunner) passwordFile(password string) (*os.File, error) {
	f, err := os.CreateTemp("", "gleaner-pw-*")
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(password + "\n")
	if r.user != nil {
		err = errors.Join(err, f.Chown(int(r.user.Uid), int(r.user.Gid)))
	}
	_, seekErr := f.Seek(0, 0)
	if err = errors.Join(err, seekErr); err != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
		return nil, err
	}
	return f, nil
}

func (r *pgRunner) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(r.bin, program), args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	cmd.Dir = "/"
	if r.user != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: r.user}
		cmd.ExtraFiles = []*os.File{r.open}
	}
	return cmd
}

func (r *pgRunner) close() {
	if r.open != nil {
		_ = r.open.Close()
	}
}
