package activities

import (
	"fmt"

	"gleaner/internal/service/config"
)

// Check says what of the options cannot be: the first, by the name of its flag.
// Where an option is not given the worker's setting holds.
func (o HarvestOptions) Check() error {
	for _, c := range []struct {
		name, value string
		choices     []string
	}{
		{"scope", o.Scope, []string{ScopePrefix, ScopeHost}},
		{"strategy", o.Strategy, config.Choices("strategy")},
		{"leads", o.Leads, config.Choices("leads")},
		{"again", o.Again, []string{AgainDue, AgainAll, AgainNone}},
	} {
		if c.value == "" {
			continue
		}
		if err := config.OneOf(c.value, c.choices); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if o.Links != nil {
		if err := o.Links.Check(); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		name  string
		value float64
	}{
		{"delay", float64(o.Delay)}, {"max-pages", float64(o.MaxPages)}, {"budget", o.Budget}, {"sites", float64(o.Window)}, {"waves", float64(o.MaxWaves)},
	} {
		if c.value < 0 {
			return fmt.Errorf("%s: %v is negative", c.name, c.value)
		}
	}
	if o.Window > MaxWindow {
		return fmt.Errorf("sites: %d is more than %d", o.Window, MaxWindow)
	}
	return nil
}

// MaxWindow bounds the sites that a harvest crawls at a time: each is a signal in one
// history when the harvest is resumed, and some statements a second.
const MaxWindow = 1000
