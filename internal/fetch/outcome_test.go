package fetch

import (
	"errors"

	"gleaner/internal/gleaner"
)

// OutcomeOf names how a fetch ended that returned err.
func OutcomeOf(err error) gleaner.Outcome {
	if err == nil {
		return gleaner.OK
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Outcome
	}
	return "no error of this package"
}
