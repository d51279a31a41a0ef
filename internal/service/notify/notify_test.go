package notify_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/config"
	"gleaner/internal/service/notify"
	"gleaner/internal/service/notify/notifytest"
)

func news() store.News {
	n := store.News{Since: time.Now().Add(-time.Hour), Until: time.Now(), Refusals: 2, Refused: []store.RefusedSite{{Host: "shy.example", Reason: "robots-denied"}}, Review: 30, Filled: true,
		Harvests: []store.EndedNews{{Harvest: "conf/webdb/1998-2004", Stage: gleaner.StageComplete, Counts: store.Counts{Published: 30, Wanted: 20, Found: 17}}}}
	n.Harvests[0].New.Found = 4
	return n
}

// TestWebhookIsSigned: a library of the Standard Webhooks verifies what was posted.
func TestWebhookIsSigned(t *testing.T) {
	t.Parallel()
	const key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	verifier, err := standardwebhooks.NewWebhook(key)
	require.NoError(t, err)
	var got struct {
		ID, Subject, Text string
		Data              store.News
	}
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = verifier.Verify(body, r.Header)
		}
		if err == nil {
			err = json.Unmarshal(body, &got)
		}
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/hook/secret" {
			t.Errorf("%s %s: %v, %v", r.Method, r.URL, r.Header, err)
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	channels, err := notify.Open(config.Notify{Webhook: config.Secret(server.URL + "/hook/secret"), Key: key}, nil)
	require.NoError(t, err)
	require.Len(t, channels, 1)
	m := notify.Of(news())
	require.NoError(t, channels[0].Send(t.Context(), m))
	require.Equal(t, m.ID, got.ID)
	require.Equal(t, m.Text, got.Text)
	require.Equal(t, "Gleaner: conf/webdb/1998-2004 complete, 2 sites refused, 30 matches to review", got.Subject)
	require.Equal(t, 4, got.Data.Harvests[0].New.Found)

	status = http.StatusServiceUnavailable
	err = channels[0].Send(t.Context(), m)
	require.ErrorContains(t, err, "503")
	require.NotContains(t, err.Error(), "secret", "the path of a webhook is its password")
	server.Close()
	err = channels[0].Send(t.Context(), m)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
	require.Equal(t, strings.TrimSuffix(server.URL, "/")+"/***", config.Secret(server.URL+"/hook/secret").String())
}

func TestMailSaysWhatHappened(t *testing.T) {
	t.Parallel()
	box := notifytest.New(t)
	cfg := config.Notify{SMTP: config.Secret("smtp://" + box.Address), MailFrom: "Gleaner <gleaner@library.example>", MailTo: "ada@library.example, Bob <bob@library.example>"}
	channels, err := notify.Open(cfg, nil)
	require.NoError(t, err)
	require.NoError(t, channels[0].Send(t.Context(), notify.Of(news())))
	require.Len(t, box.Mails(), 1)
	mail := strings.ReplaceAll(box.Mails()[0], "=\r\n", "")
	for _, want := range []string{"ada@library.example\nbob@library.example\n\n", "Subject: Gleaner: conf/webdb/1998-2004 complete", "found 17, missing 3; since it was begun found 4",
		"shy.example: robots-denied", "and 1 more", "30 matches to review"} {
		require.Contains(t, mail, want)
	}

	// A password is not said to a server that offers no TLS.
	cfg.SMTP = config.Secret("smtp://gleaner:hunter2@" + box.Address)
	channels, err = notify.Open(cfg, nil)
	require.NoError(t, err)
	err = channels[0].Send(t.Context(), notify.Test())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hunter2")
	require.Len(t, box.Mails(), 1)
	_, err = notify.Open(config.Notify{SMTP: cfg.SMTP}, nil)
	require.ErrorContains(t, err, "notify-mail-from")
}
