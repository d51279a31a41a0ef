package bench

import (
	"fmt"
	"os"
)

// resident is the memory that this process has now, in bytes; 0 where the system does
// not tell it.
func resident() int64 { return residentOf(os.Getpid()) }

func residentOf(pid int) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(raw), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
