package app

import "gleaner/internal/record/store"

// Retention says how long what is kept, by the settings.
func (a *App) Retention() store.Retention {
	r := a.Config.Retain
	return store.Retention{
		Pages: r.Pages, Searches: r.Searches, Robots: r.Robots, Rejected: r.Rejected, Harvests: r.Harvests,
		Lines: r.Rejected, Waiting: r.Waiting,
	}
}
