package fetch

import "gleaner/internal/gleaner"

// Retryable reports whether the same request may succeed later: the URL itself is not the cause
// of the failure.
func Retryable(o gleaner.Outcome) bool {
	switch o {
	case ServerError, Busy, RobotsUnavailable, DNSFailure, ConnectFailure, TLSFailure,
		Timeout, SlowBody, Truncated, BadAnswer, EmptyBody, Canceled, Parked, NoContact:
		return true
	default:
		return false
	}
}

// statusOutcome returns the outcome of an answer by its status alone; OK means that its body is
// wanted. Callers handle redirects.
func statusOutcome(status int) gleaner.Outcome {
	switch {
	case status == 204 || status == 205:
		return EmptyBody
	case status == 206: // no part was requested
		return BadAnswer
	case status >= 200 && status < 300:
		return gleaner.OK
	case status == 404 || status == 410:
		return NotFound
	case status == 401 || status == 403 || status == 451:
		return Forbidden
	case status == 408:
		return Timeout
	case status == 429 || status == 503:
		return Busy
	case status >= 400 && status < 500, status >= 600: // some walls answer with 999
		return BadStatus
	case status >= 500 && status < 600:
		return ServerError
	default:
		return BadAnswer
	}
}

// hostFailed reports whether an outcome is a failure of the host, not of one page.
func hostFailed(o gleaner.Outcome) bool {
	switch o {
	case ServerError, Busy, DNSFailure, ConnectFailure, TLSFailure, Timeout, SlowBody, Truncated:
		return true
	default:
		return false
	}
}
