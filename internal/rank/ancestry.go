package rank

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// ancestor holds of a fetched page what is needed to credit it for the pages its links led to.
type ancestor struct {
	asked, came, parent uint32 // hashes of addresses
	worth               float32
	judged, accepted    uint8 // of its documents
	credited            bool  // worth comes from a page below it
	features            []feature
}

// count counts the verdict on one document of the page, up to 255.
func (a *ancestor) count(accepted bool) {
	if a.judged == math.MaxUint8 {
		return
	}
	a.judged++
	if accepted {
		a.accepted++
	}
}

// yield returns the papers per request of the page so far, with the request for the page itself.
func (a *ancestor) yield() float64 { return float64(a.accepted) / (float64(a.judged) + 1) }

// ancestry holds the latest pages, the last one last.
type ancestry struct{ pages []ancestor }

const (
	maxAncestors = 96
	maxStored    = 64 // features of each
)

func (y *ancestry) add(a ancestor) {
	a.features = a.features[:min(len(a.features), maxStored)]
	if len(y.pages) >= maxAncestors {
		// Pages that led to nothing are dropped first: others may lie on a path to papers.
		drop := 0
		for i, old := range y.pages[:len(y.pages)/2] {
			if old.worth < y.pages[drop].worth {
				drop = i
			}
		}
		y.pages = slices.Delete(y.pages, drop, drop+1)
	}
	y.pages = append(y.pages, a)
}

func (y *ancestry) find(hash uint32) *ancestor {
	for i := len(y.pages) - 1; i >= 0; i-- {
		if a := &y.pages[i]; a.asked == hash || a.came == hash {
			return a
		}
	}
	return nil
}

// hashOf returns the hash of an address. The hash of "" is 0, which no other address has.
func hashOf(url string) uint32 {
	if url == "" {
		return 0
	}
	h := hashSeed
	for i := 0; i < len(url); i++ {
		h = (h ^ uint32(url[i])) * hashPrime
	}
	return max(h, 1)
}

// encode writes for each page three hashes, its worth, the counts of its documents, whether it
// was credited, and its features: their number, then two bytes of index and four of value for
// each.
func (y *ancestry) encode() (buf []byte) {
	le := binary.LittleEndian
	for _, a := range y.pages {
		for _, h := range [3]uint32{a.asked, a.came, a.parent} {
			buf = le.AppendUint32(buf, h)
		}
		buf = le.AppendUint32(buf, math.Float32bits(a.worth))
		n := len(a.features)
		buf = append(buf, a.judged, a.accepted, 0, byte(n))
		if a.credited {
			buf[len(buf)-2] = 1
		}
		for _, f := range a.features[:n] {
			buf = le.AppendUint16(buf, uint16(f.index))
			buf = le.AppendUint32(buf, math.Float32bits(f.value))
		}
	}
	return buf
}

func decodeAncestry(buf []byte, features int) (y ancestry, err error) {
	le := binary.LittleEndian
	for len(buf) >= 20 {
		a := ancestor{asked: le.Uint32(buf), came: le.Uint32(buf[4:]), parent: le.Uint32(buf[8:]), worth: math.Float32frombits(le.Uint32(buf[12:])),
			judged: buf[16], accepted: min(buf[16], buf[17]), credited: buf[18] == 1}
		n := int(buf[19])
		buf = buf[20:]
		if len(buf) < 6*n {
			break
		}
		for range n {
			f := feature{int32(le.Uint16(buf)), math.Float32frombits(le.Uint32(buf[2:]))}
			if int(f.index) >= features {
				return y, fmt.Errorf("rank: restore %s: feature %d of %d", Gleaner, f.index, features)
			}
			a.features = append(a.features, f)
			buf = buf[6:]
		}
		y.pages = append(y.pages, a)
	}
	return y, nil
}
