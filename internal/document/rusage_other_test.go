//go:build !unix

package document

import "time"

func processorTime() time.Duration { return 0 }
