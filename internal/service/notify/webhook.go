package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/fetch"
)

// largestAnswer is how much of an answer is read.
const largestAnswer = 64 << 10

type webhook struct {
	address string
	key     []byte // nil where nothing is signed
	api     *fetch.API
}

func newWebhook(address, key string, way http.RoundTripper) (*webhook, error) {
	w := &webhook{address: address, api: fetch.NewAPI(way, nil, nil, longest, largestAnswer)}
	if rest, ok := strings.CutPrefix(key, "whsec_"); ok {
		var err error
		if w.key, err = base64.StdEncoding.DecodeString(rest); err != nil {
			return nil, fmt.Errorf("config: notify-webhook-key: behind whsec_ there is no base64 (not shown: it is secret)")
		}
	} else if key != "" {
		w.key = []byte(key)
	}
	return w, nil
}

func (w *webhook) Name() string { return "webhook" }

// Send posts a message: whoever answers with 2xx has it.
func (w *webhook) Send(ctx context.Context, m Message) error {
	at := m.At.UTC().Truncate(time.Second)
	body, err := json.Marshal(map[string]any{"type": "gleaner.news", "id": m.ID, "timestamp": at.Format(time.RFC3339), "subject": m.Subject, "text": m.Text, "data": m.Data})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.address, bytes.NewReader(body))
	if err != nil {
		return fetch.Unaddressed(err)
	}
	stamp := strconv.FormatInt(at.Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Webhook-Id", m.ID)
	r.Header.Set("Webhook-Timestamp", stamp)
	if w.key != nil {
		sum := hmac.New(sha256.New, w.key)
		fmt.Fprintf(sum, "%s.%s.%s", m.ID, stamp, body)
		r.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	}
	answer, err := w.api.Do(fetch.Call{Request: r})
	if err != nil {
		return err
	}
	defer answer.Release()
	if answer.Status < 200 || answer.Status > 299 {
		return fmt.Errorf("the webhook at %s answers %d", r.URL.Host, answer.Status)
	}
	return nil
}
