package pool_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gleaner/worker/pool"
)

// TestASuccessorIsNotEnded: of the slices of a host the one is handed on whose worker lost
// the lease, however young it is; none of another worker, and none that began since.
func TestASuccessorIsNotEnded(t *testing.T) {
	t.Parallel()
	const (
		started   = enumspb.PENDING_ACTIVITY_STATE_STARTED
		cancelled = enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED
		scheduled = enumspb.PENDING_ACTIVITY_STATE_SCHEDULED
	)
	lost := time.Now()
	for name, tt := range map[string]struct {
		kind, worker string
		state        enumspb.PendingActivityState
		age          time.Duration // when the lease was lost
		ended        bool
	}{
		"long under way":         {"CrawlSlice", "a/1/x", started, time.Hour, true},
		"young":                  {"CrawlSlice", "a/1/x", started, 6 * time.Second, true},
		"to be cancelled":        {"CrawlSlice", "a/1/x", cancelled, time.Hour, true},
		"another worker's":       {"CrawlSlice", "a/1/y", started, time.Hour, false},
		"begun since":            {"CrawlSlice", "a/1/x", started, -time.Second, false},
		"between two attempts":   {"CrawlSlice", "a/1/x", scheduled, time.Hour, false},
		"the examination of all": {"FilterDocuments", "a/1/x", started, time.Hour, false},
	} {
		a := &workflow.PendingActivityInfo{
			ActivityType:       &commonpb.ActivityType{Name: tt.kind},
			State:              tt.state,
			LastWorkerIdentity: tt.worker,
			LastStartedTime:    timestamppb.New(lost.Add(-tt.age)),
		}
		require.Equal(t, tt.ended, pool.Gone([]*workflow.PendingActivityInfo{a}, "a/1/x", lost) == a, name)
	}
}

// TestALeaseThatRanOutInCalmIsRevokedSooner than one that an outage may have cost.
func TestALeaseThatRanOutInCalmIsRevokedSooner(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	looks := make([]time.Time, 11)
	for i := range looks {
		looks[i] = begin.Add(time.Duration(i) * time.Second)
	}
	calm := pool.Patience(looks)
	require.Greater(t, pool.Patience(looks[:10]), calm, "the database may have been away while the lease ran out")
	require.Greater(t, pool.Patience(append(looks[:8:8], looks[10])), calm, "who looks was held up")
}
