package archive

import (
	"bytes"
	"encoding/binary"
	"testing"

	"gleaner/internal/each"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// TestDictionary: an archive whose frames are compressed with a dictionary, which its
// first frame holds as it is or compressed, is read from any record; without the
// dictionary it is damaged.
func TestDictionary(t *testing.T) {
	t.Parallel()
	samples := each.Of(parts(), func(p string) []byte { return []byte(p) })
	dict, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 7, Contents: samples, History: []byte(parts()[1]), Offsets: [3]int{1, 4, 8}})
	require.NoError(t, err)
	with, err := zstd.NewWriter(nil, zstd.WithEncoderDict(dict))
	require.NoError(t, err)
	plain, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	var frames []byte
	for _, p := range samples {
		frames = append(frames, with.EncodeAll(p, nil)...)
	}
	framed := func(d []byte) []byte {
		head := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, dictMagic), uint32(len(d)))
		return bytes.Join([][]byte{head, d, frames}, nil)
	}
	for name, data := range map[string][]byte{"as it is": framed(dict), "compressed": framed(plain.EncodeAll(dict, nil))} {
		everywhere(t, name, data)
	}
	_, err = all(t, frames, Position{})
	require.ErrorAs(t, err, new(*Damage))
	require.ErrorContains(t, err, "dictionary")
}
