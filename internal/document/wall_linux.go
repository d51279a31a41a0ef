package document

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights to files that Landlock knows, by what a child needs them for.
const (
	mayRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	mayOpen = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	ofFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | mayOpen | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	mayWork = mayOpen | unix.LANDLOCK_ACCESS_FS_READ_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | // and no file: what is open stays where it is counted
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	allRights = 1<<15 - 1 // up to TRUNCATE
)

// Versions of Landlock from which it knows a right.
const (
	wallMoves     = 2
	wallTruncates = 3
	wallNetwork   = 4
	wallSignals   = 6
)

// systemFiles are what programs that read documents use of a system: programs,
// libraries, fonts and their settings. None of it is anybody's secret. A program that
// is installed elsewhere may read its own file and these.
var systemFiles = []string{
	"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/libexec", "/usr/share",
	"/usr/local/bin", "/usr/local/lib", "/usr/local/lib64", "/usr/local/share",
	"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime",
	"/etc/fonts", "/etc/ghostscript", "/etc/papersize", "/etc/paperspecs", "/etc/catdocrc", "/etc/xpdfrc",
	"/var/lib/ghostscript", "/var/cache/fontconfig", "/sys/devices/system/cpu",
	"/dev/zero", "/dev/random", "/dev/urandom",
}

// wallVersion is the version of Landlock that this kernel has, 0 for none.
func wallVersion() int {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// wallIn refuses this thread and its children all files but those of the system, the
// programs and the folder, and signals to others where the kernel can.
func (b box) wallIn(dir string) error {
	known := uint64(allRights)
	if b.wall < wallTruncates {
		known &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if b.wall < wallMoves {
		known &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	rules := unix.LandlockRulesetAttr{Handled_access_fs: known}
	if b.wall >= wallNetwork {
		rules.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if b.wall >= wallSignals {
		rules.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&rules)), unsafe.Sizeof(rules), 0)
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	defer func() { _ = unix.Close(int(fd)) }()
	for rights, paths := range map[uint64][]string{
		mayRead: slices.Concat(b.programs, systemFiles),
		mayOpen: slices.Concat(b.also, []string{"/dev/null"}),
		mayWork: slices.Concat(b.also, []string{dir}),
	} {
		if err := allow(int(fd), rights&known, paths); err != nil {
			return err
		}
	}
	if _, _, errno = unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}

// allow adds rights to paths, and to all that is below them. What is not there needs
// none.
func allow(rules int, rights uint64, paths []string) error {
	for _, path := range paths {
		at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(at)}
		var is unix.Stat_t
		if err = unix.Fstat(at, &is); err == nil && is.Mode&unix.S_IFMT != unix.S_IFDIR {
			rule.Allowed_access &= ofFiles
		}
		if err == nil {
			_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH,
				uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
			if errno != 0 {
				err = errno
			}
		}
		runtime.KeepAlive(&rule)
		_ = unix.Close(at)
		if err != nil {
			return &os.PathError{Op: "landlock", Path: path, Err: err}
		}
	}
	return nil
}
