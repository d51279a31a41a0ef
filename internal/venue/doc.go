// Package venue holds the nouns that every other package speaks of: venues,
// years, papers and authors. It has no behaviour beyond what the nouns mean,
// stores nothing, and imports nothing of this project.
package venue
