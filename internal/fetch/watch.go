package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"gleaner/internal/gleaner"
)

// drainBytes is the part of an unwanted answer that is read to keep its connection.
const drainBytes = 64 << 10

var (
	errTotal = errors.New("the whole took too long")
	errIdle  = errors.New("no byte of the body for too long")
	errSlow  = errors.New("the body comes too slowly")
)

// watched is the part of the chain that limits the time and the bytes on the wire. It removes the
// body of an answer whose status makes it unwanted.
type watched struct{ next http.RoundTripper }

func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r)
	ctx, cancel := context.WithCancelCause(r.Context())
	x.watch = newWatch(ctx, x.limits, cancel)
	resp, err := w.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		x.elapsed = x.watch.end()
		return nil, err
	}
	x.watch.body = time.Now()
	body := &wireBody{ReadCloser: resp.Body, x: x}
	resp.Body = body
	if x.statusOutcome() != gleaner.OK && !x.everyStatus {
		if resp.ContentLength <= drainBytes && resp.Header.Get("Retry-After") == "" {
			_, _ = io.CopyN(io.Discard, body, drainBytes)
		} // otherwise a Retry-After applies before the body ends
		_ = body.Close()
		x.outcome, resp.Body, resp.ContentLength = "", http.NoBody, 0
	}
	return resp, nil
}

// wireBody reads from the connection and checks its speed.
type wireBody struct {
	io.ReadCloser
	x *exchange
}

// Read also stores the error of a cut body in the exchange, since a decoder may ignore it.
func (b *wireBody) Read(p []byte) (int, error) {
	x := b.x
	if x.cut != nil {
		return 0, x.cut
	}
	from := time.Now()
	x.watch.reading(from)
	n, err := b.ReadCloser.Read(p)
	drips := x.watch.drips(n, time.Since(from))
	x.wire += int64(n)
	switch {
	case x.most > 0 && x.wire > x.most:
		x.cut = x.fail(TooLarge, &sizeError{x.most, "the packed body"})
		return 0, x.cut // with bytes, since a decoder may ignore the error then
	case err == io.EOF:
		return n, err
	case err == nil && (drips || x.watch.slow(x.wire)):
		err = errSlow
	case err == nil:
		return n, nil
	}
	o := Truncated
	if err == errSlow {
		o = SlowBody
	} else if cause := context.Cause(x.watch.ctx); cause != nil {
		o, err = causeOutcome(cause), cause
	}
	x.cut = x.fail(o, err)
	return n, x.cut
}

// Close ends the watch.
func (b *wireBody) Close() error {
	err := b.ReadCloser.Close()
	b.x.elapsed = b.x.watch.end()
	return err
}

// causeOutcome returns the outcome of a context that is done.
func causeOutcome(cause error) gleaner.Outcome {
	switch {
	case errors.Is(cause, errTotal):
		return Timeout
	case errors.Is(cause, errIdle), errors.Is(cause, errSlow):
		return SlowBody
	default:
		return Canceled
	}
}

// watch cancels a request that takes too long, in total or between two reads of the body.
type watch struct {
	ctx    context.Context // of the request
	limits Limits
	start  time.Time
	body   time.Time // its start
	timer  *time.Timer
	cancel context.CancelCauseFunc

	lately time.Duration // duration of the last reads
	came   int64         // bytes of these reads
	least  float64       // least bytes per second of a body that holds much memory
}

func newWatch(ctx context.Context, l Limits, cancel context.CancelCauseFunc) *watch {
	w := &watch{ctx: ctx, limits: l, start: time.Now(), cancel: cancel}
	w.timer = time.AfterFunc(l.Total, func() {
		if time.Since(w.start) >= l.Total {
			cancel(errTotal)
		} else {
			cancel(errIdle)
		}
	})
	return w
}

// reading is called before each read of the body.
func (w *watch) reading(now time.Time) {
	w.timer.Reset(min(w.limits.Idle, w.limits.Total-now.Sub(w.start)))
}

// slow reports whether the average speed of a body is too low.
func (w *watch) slow(wire int64) bool {
	took := time.Since(w.body)
	return took > w.limits.Grace && float64(wire) < took.Seconds()*float64(w.limits.MinRate)
}

// drips reports whether the last reads of the body, over three times Grace, were too slow, even
// if earlier ones were fast.
func (w *watch) drips(n int, took time.Duration) (is bool) {
	w.lately, w.came = w.lately+took, w.came+int64(n)
	if w.lately > 3*w.limits.Grace {
		is = float64(w.came) < w.lately.Seconds()*max(w.least, float64(w.limits.MinRate))
		w.lately, w.came = 0, 0
	}
	return is
}

// pause begins a wait that does not count as the host's time. resume ends it and returns its
// duration.
func (w *watch) pause() (resume func() time.Duration) {
	from := time.Now()
	w.timer.Stop()
	return func() time.Duration {
		took := time.Since(from)
		w.start, w.body = w.start.Add(took), w.body.Add(took)
		w.reading(time.Now())
		return took
	}
}

// end stops the watch and returns the time of the host.
func (w *watch) end() time.Duration {
	w.timer.Stop()
	w.cancel(nil)
	return time.Since(w.start)
}
