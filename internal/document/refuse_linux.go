package document

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"gleaner/internal/guard"
)

// What prctl(2), seccomp(2) and BPF call these.
const (
	prSetSeccomp     = 22
	prSetSecureBits  = 28
	rootIsNoOther    = 1 | 1<<1 // SECBIT_NOROOT, for good: a program of root's has no capability
	prSetNoNewPrivs  = 38
	seccompFilter    = 2
	seccompAllow     = 0x7fff0000
	seccompErrno     = 0x00050000
	offsetNumber     = 0          // of seccomp_data: the call's number
	offsetMachine    = 4          // the machine's,
	offsetFlags      = 24         // and the second argument's low half, of open its flags; openat's is the third
	open             = 2          // on amd64
	namelessFile     = 0o20000000 // O_TMPFILE, without what it stands for beside that
	ioUringSetup     = 425
	memfdSecret      = 447
	setXattrAt       = 463
	x32Bit           = 0x40000000
	auditArchX86     = 0xc000003e
	auditArchAArch64 = 0xc00000b7
)

// machine is the number by which the kernel knows this processor; 0 where no filter
// is written for it.
func machine() uint32 {
	switch runtime.GOARCH {
	case "amd64":
		return auditArchX86
	case "arm64":
		return auditArchAArch64
	}
	return 0
}

// canMute tries noSockets on a thread that is used for nothing else.
func canMute() bool {
	can := make(chan bool, 1)
	guard.Go(func() {
		defer close(can)
		runtime.LockOSThread()
		noNewPrivileges()
		can <- machine() != 0 && noSockets()
	})
	return <-can
}

// hide keeps other processes of this user from reading this one's memory and
// environment.
func hide() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0)
}

// noGroups takes this thread and its children out of the groups of root, as which it
// runs: in a user space of their own they could not leave them.
func noGroups() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_SETGROUPS, 0, 0, 0)
}

// become makes this thread alone that of another user, and so its children.
func become(user int) error {
	id := uintptr(user)
	_, _, group := syscall.RawSyscall(syscall.SYS_SETRESGID, id, id, id)
	_, _, own := syscall.RawSyscall(syscall.SYS_SETRESUID, id, id, id)
	if own == 0 {
		own = group
	}
	if own != 0 {
		return own
	}
	return nil
}

// dropCapabilities leaves this thread and its children none, or those alone by which it
// may become another user, who then has none. To lower them needs no right, unlike
// noNewPrivileges' second step, which a container may have taken away.
func dropCapabilities(becoming bool) {
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have, keep [2]unix.CapUserData
	if becoming && unix.Capget(&h, &have[0]) == nil {
		const toBecome = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
		keep[0].Permitted, keep[0].Effective = have[0].Permitted&toBecome, have[0].Effective&toBecome
	}
	_ = unix.Capset(&h, &keep[0])
}

// noNewPrivileges keeps this thread and its children from gaining rights by what
// they run, which cannot fail on a kernel that Go runs on, or by being root.
func noNewPrivileges() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0)
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetSecureBits, rootIsNoOther, 0)
}

// noSockets refuses this thread and its children to open a socket, of any family:
// also databases listen on one in the file system. It refuses them files without a name,
// too, whose bytes nobody could count, and memory that counts against no limit of a
// process or outlasts it. The other ways to both, io_uring and openat2, are
// closed, and so are calls by another machine's numbers. Nor has a file room beside its bytes.
func noSockets() bool {
	const (
		load  = syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS
		equal = syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K
		above = syscall.BPF_JMP | syscall.BPF_JGE | syscall.BPF_K
		bits  = syscall.BPF_JMP | syscall.BPF_JSET | syscall.BPF_K
		skip  = syscall.BPF_JMP | syscall.BPF_JA
		give  = syscall.BPF_RET | syscall.BPF_K
	)
	filter := []syscall.SockFilter{
		{Code: load, K: offsetMachine},
		{Code: equal, K: machine(), Jt: 0, Jf: 23},
		{Code: load, K: offsetNumber},
		{Code: above, K: x32Bit, Jt: 21, Jf: 0},
		{Code: equal, K: syscall.SYS_SOCKET, Jt: 20, Jf: 0},
		{Code: equal, K: ioUringSetup, Jt: 19, Jf: 0},
		{Code: equal, K: unix.SYS_MEMFD_CREATE, Jt: 18, Jf: 0},
		{Code: equal, K: memfdSecret, Jt: 17, Jf: 0},
		{Code: equal, K: unix.SYS_SHMGET, Jt: 16, Jf: 0},
		{Code: equal, K: unix.SYS_MSGGET, Jt: 15, Jf: 0},
		{Code: equal, K: unix.SYS_SEMGET, Jt: 14, Jf: 0},
		{Code: equal, K: unix.SYS_OPENAT2, Jt: 14, Jf: 0},
		{Code: equal, K: unix.SYS_FALLOCATE, Jt: 14, Jf: 0},
		{Code: equal, K: unix.SYS_SETXATTR, Jt: 13, Jf: 0},
		{Code: equal, K: unix.SYS_LSETXATTR, Jt: 12, Jf: 0},
		{Code: equal, K: unix.SYS_FSETXATTR, Jt: 11, Jf: 0},
		{Code: equal, K: setXattrAt, Jt: 10, Jf: 0},
		{Code: equal, K: syscall.SYS_OPENAT, Jt: 2, Jf: 0},
		{Code: equal, K: open, Jt: 3, Jf: 0},
		{Code: give, K: seccompAllow},
		{Code: load, K: offsetFlags + 8},
		{Code: skip, K: 1},
		{Code: load, K: offsetFlags},
		{Code: bits, K: namelessFile, Jt: 1, Jf: 0},
		{Code: give, K: seccompAllow},
		{Code: give, K: seccompErrno | uint32(syscall.EACCES)},
		{Code: give, K: seccompErrno | uint32(syscall.ENOSYS)},     // by which programs go back to openat
		{Code: give, K: seccompErrno | uint32(syscall.EOPNOTSUPP)}, // and write the bytes
	}
	program := syscall.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetSeccomp, seccompFilter, uintptr(unsafe.Pointer(&program)))
	return errno == 0
}
