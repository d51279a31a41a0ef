package fetch

import "errors"

// OutcomeOf names how a fetch ended that returned err.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return OK
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Outcome
	}
	return "no error of this package"
}
