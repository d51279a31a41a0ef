package frontier

// WindowSQL and KeptSQL are for tests of their plans.
const (
	WindowSQL = windowSQL
	KeptSQL   = keptSQL
)

// Bare is an entry without what it remembers of its own hash.
func Bare(e Entry) Entry {
	e.hash, e.hashed = Hash{}, ""
	return e
}
