package main

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"

	"gleaner/internal/console"
	"gleaner/internal/service/program"
)

func (d *desk) ListSchedules(ctx context.Context) ([]console.Scheduled, error) {
	t, err := d.temporal(ctx)
	if err != nil {
		return nil, err
	}
	all, err := listSchedules(ctx, t)
	return all, told(err)
}

func (d *desk) CreateSchedule(ctx context.Context, w console.Wish, every time.Duration) (name string, err error) {
	f := &scheduleFlags{every: every, years: w.Years, scope: w.Scope, delay: w.Delay, warc: w.WARC}
	if err = f.validate(false); err != nil {
		return "", err
	}
	o, err := d.c.scheduleOptions(ctx, w.Goal, f)
	if err != nil {
		return "", told(err)
	}
	t, err := d.temporal(ctx)
	if err != nil {
		return "", err
	}
	return shortName(o.ID), told(startSchedule(ctx, t, o))
}

func (d *desk) PauseSchedule(ctx context.Context, name, note string) error {
	return d.onSchedule(ctx, name, func(h client.ScheduleHandle) error {
		return h.Pause(ctx, client.SchedulePauseOptions{Note: note})
	})
}

func (d *desk) ResumeSchedule(ctx context.Context, name, note string) error {
	return d.onSchedule(ctx, name, func(h client.ScheduleHandle) error {
		return h.Unpause(ctx, client.ScheduleUnpauseOptions{Note: note})
	})
}

func (d *desk) DeleteSchedule(ctx context.Context, name string) error {
	return d.onSchedule(ctx, name, func(h client.ScheduleHandle) error { return h.Delete(ctx) })
}

// onSchedule does something to a schedule of exactly that name.
func (d *desk) onSchedule(ctx context.Context, name string, do func(client.ScheduleHandle) error) error {
	t, err := d.temporal(ctx)
	if err != nil {
		return err
	}
	err = do(t.ScheduleClient().GetHandle(ctx, scheduleID(name)))
	if notThere(err) {
		return program.Unknown{Reason: fmt.Errorf("no schedule is called %s", name)}
	}
	return told(err)
}
