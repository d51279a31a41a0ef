package frontier

// WindowSQL is for tests of its plan.
const WindowSQL = windowSQL

// Bare is an entry without what it remembers of its own hash.
func Bare(e Entry) Entry {
	e.hash, e.hashed = Hash{}, ""
	return e
}
