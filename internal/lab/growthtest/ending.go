package growthtest

import "context"

// Ending is a context that ends once it was looked at so many times.
type Ending struct {
	context.Context
	Looks int
}

func (e *Ending) Err() error {
	if e.Looks--; e.Looks < 0 {
		return context.Canceled
	}
	return nil
}
