package rank

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
)

// gleanerState is what gleaner keeps between slices: the changed weights of its models, the
// leaders of its arms, and the groups of links.
type gleanerState struct {
	Version int      `json:"version"`
	Shared  int      `json:"shared"` // number of features of its lists
	Pages   []byte   `json:"pages"`
	Docs    []byte   `json:"docs"`
	Arms    []string `json:"arms"`
	Groups  []uint32 `json:"groups"`
	Path    []byte   `json:"path"`
	Tries   []byte   `json:"tries"` // requests by pattern: two bytes of bucket, two of count
	Picks   int      `json:"picks"`
	Yields  []byte   `json:"yields"`
}

const stateVersion = 3

// State is at most 245 KiB: two models of 4,300 weights at 16 characters, 96 arms
// of 300 bytes, 96 pages at 543, 2,048 counts at 5⅓, 320 groups at 8.
func (g *gleaner) State() (json.RawMessage, error) {
	g.settle()
	var tries []byte
	for i, n := range g.tries {
		if n > 0 {
			tries = binary.LittleEndian.AppendUint16(tries, uint16(i))
			tries = binary.LittleEndian.AppendUint16(tries, n)
		}
	}
	return json.Marshal(gleanerState{
		Version: stateVersion, Shared: g.x.shared, Pages: g.pages.encode(), Docs: g.docs.encode(),
		Arms: g.arms.leaders, Groups: g.groups.keys, Picks: g.picks, Path: g.path.encode(), Yields: g.yields.encode(), Tries: tries,
	})
}

// Restore loads the result of State. It ignores a state of another version or of other lists, so
// that the site is learnt again.
func (g *gleaner) Restore(raw json.RawMessage) error {
	g.reset()
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "{}" {
		return nil
	}
	var s gleanerState
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("rank: restore %s: %w", Gleaner, err)
	}
	if s.Version != stateVersion || s.Shared != g.x.shared {
		return nil
	}
	if err := g.pages.decode(s.Pages); err != nil {
		return err
	}
	if err := g.docs.decode(s.Docs); err != nil {
		return err
	}
	var err error
	if g.path, err = decodeAncestry(s.Path, g.x.shared+siteSlots); err != nil {
		return err
	}
	for tries := s.Tries; len(tries) >= 4; tries = tries[4:] {
		g.tries[binary.LittleEndian.Uint16(tries)%patterns] = binary.LittleEndian.Uint16(tries[2:])
	}
	g.yields, g.arms, g.picks = decodeYields(s.Yields), newArms(s.Arms), s.Picks
	for _, h := range s.Groups {
		g.groups.add(h)
	}
	return nil
}

// encode writes the changed weights as (index, mean, variance) of twelve bytes each, so that a
// small site has a small state.
func (m *model) encode() (buf []byte) {
	for i := range m.place {
		w := m.at(int32(i))
		if w == m.start.of(i) {
			continue
		}
		buf = binary.LittleEndian.AppendUint32(buf, uint32(i))
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(w.mean))
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(w.variance))
	}
	return buf
}

func (m *model) decode(buf []byte) error {
	m.version++
	for ; len(buf) >= 12; buf = buf[12:] {
		i := binary.LittleEndian.Uint32(buf)
		if int(i) >= len(m.place) {
			return fmt.Errorf("rank: restore %s: weight %d of %d", Gleaner, i, len(m.place))
		}
		*m.own(int32(i)) = weight{math.Float32frombits(binary.LittleEndian.Uint32(buf[4:])), math.Float32frombits(binary.LittleEndian.Uint32(buf[8:]))}
	}
	return nil
}
