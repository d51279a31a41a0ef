package rank

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
)

// stemSet remembers the accepted documents without their format, the latest
// maxStems of them, by hash.
type stemSet struct {
	order []uint32
	at    map[uint32]bool
}

const maxStems = 4096

func stemHash(key string) uint32 {
	h := hashSeed
	for i := 0; i < len(key); i++ {
		h = (h ^ uint32(key[i])) * hashPrime
	}
	return h
}

func (s *stemSet) has(key string) bool { return len(s.at) > 0 && s.at[stemHash(key)] }

func (s *stemSet) add(key string) { s.addHash(stemHash(key)) }

func (s *stemSet) addHash(h uint32) {
	if s.at[h] {
		return
	}
	if s.at == nil {
		s.at = map[uint32]bool{}
	}
	if len(s.order) >= maxStems {
		delete(s.at, s.order[0])
		s.order = append(s.order[:0], s.order[1:]...)
	}
	s.order = append(s.order, h)
	s.at[h] = true
}

// gleanerState is what gleaner keeps between slices: its models as little-endian
// float32 (mean, then variance), the leaders of its arms, accepted stems.
type gleanerState struct {
	Version int      `json:"version"`
	Shared  int      `json:"shared"` // features of the lists it was learnt with
	Pages   string   `json:"pages"`
	Docs    string   `json:"docs"`
	Arms    []string `json:"arms"`
	Stems   string   `json:"stems"`
	Picks   int      `json:"picks"`
}

const stateVersion = 1

// State is at most about 180 KiB: two models of 4,300 pairs of float32, 96 arms
// of 300 bytes, 4,096 stems.
func (g *gleaner) State() (json.RawMessage, error) {
	g.settle()
	stems := make([]byte, 0, 4*len(g.twins.order))
	for _, h := range g.twins.order {
		stems = binary.LittleEndian.AppendUint32(stems, h)
	}
	return json.Marshal(gleanerState{
		Version: stateVersion, Shared: g.x.shared, Pages: g.pages.encode(), Docs: g.docs.encode(),
		Arms: g.arms.leaders, Stems: base64.StdEncoding.EncodeToString(stems), Picks: g.picks,
	})
}

// Restore takes up what State gave. A state of another version, or one learnt
// with other lists, is given up: the site is learnt anew.
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
	stems, err := base64.StdEncoding.DecodeString(s.Stems)
	if err != nil {
		return fmt.Errorf("rank: restore %s: stems: %w", Gleaner, err)
	}
	for ; len(stems) >= 4; stems = stems[4:] {
		g.twins.addHash(binary.LittleEndian.Uint32(stems))
	}
	g.arms, g.picks = newArms(s.Arms), s.Picks
	return nil
}

func (m *model) encode() string {
	buf := make([]byte, 0, 8*len(m.mean))
	for _, half := range [2][]float32{m.mean, m.variance} {
		for _, v := range half {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
		}
	}
	return base64.StdEncoding.EncodeToString(buf)
}

func (m *model) decode(s string) error {
	buf, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return fmt.Errorf("rank: restore %s: model: %w", Gleaner, err)
	}
	if len(buf) != 8*len(m.mean) {
		return fmt.Errorf("rank: restore %s: model of %d bytes, want %d", Gleaner, len(buf), 8*len(m.mean))
	}
	for _, half := range [2][]float32{m.mean, m.variance} {
		for i := range half {
			half[i] = math.Float32frombits(binary.LittleEndian.Uint32(buf))
			buf = buf[4:]
		}
	}
	return nil
}
