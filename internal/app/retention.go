package app

import "gleaner/internal/store"

// Retention says how long what is kept, by the settings.
func (a *App) Retention() store.Retention {
	return store.Retention{Pages: a.Config.Duration("retain-pages"), Searches: a.Config.Duration("retain-searches"), Robots: a.Config.Duration("retain-robots"),
		Rejected: a.Config.Duration("retain-rejected"), Harvests: a.Config.Duration("retain-harvests")}
}
