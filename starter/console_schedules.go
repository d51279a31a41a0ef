package main

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"

	"gleaner/internal/console"
	"gleaner/internal/service/program"
)

func (d *desk) ListSchedules(ctx context.Context) (all []console.Scheduled, err error) {
	err = d.onTemporal(ctx, func(t client.Client) (err error) { all, err = listSchedules(ctx, t); return err })
	return all, err
}

// Schedule implements console.Schedules.
func (d *desk) Schedule(ctx context.Context, name string) (*console.Scheduled, error) {
	t, err := d.temporal(ctx)
	if err != nil {
		return nil, err
	}
	s, err := describeSchedule(ctx, t, scheduleID(name))
	if isNotFound(err) {
		return nil, nil
	}
	return &s, err
}

func (d *desk) CreateSchedule(
	ctx context.Context, w console.HarvestRequest, every time.Duration, replace bool,
) (string, error) {
	f := &scheduleFlags{every: every, jitter: jitterOf(every), years: w.Years, options: harvestOptions(w)}
	if err := f.validate(false); err != nil {
		return "", err
	}
	o, err := d.c.scheduleOptions(ctx, w.Goal, f)
	if err != nil {
		return "", consoleError(err)
	}
	return shortName(o.ID), d.onTemporal(ctx, func(t client.Client) error { return startSchedule(ctx, t, o, replace) })
}

// SteerSchedule implements console.Schedules, for the schedule of exactly that name.
func (d *desk) SteerSchedule(ctx context.Context, name, do, note string) error {
	err := d.onTemporal(ctx, func(t client.Client) error {
		return steerHandle(ctx, t.ScheduleClient().GetHandle(ctx, scheduleID(name)), do, note)
	})
	if isNotFound(err) {
		return program.Unknown{Reason: fmt.Errorf("no schedule is called %s", name)}
	}
	return err
}
