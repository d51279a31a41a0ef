package terminal_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"gleaner/internal/service/terminal"
)

func shown(t *testing.T, writes ...string) string {
	var out strings.Builder
	w := terminal.New(&out)
	for _, s := range writes {
		n, err := w.Write([]byte(s))
		require.NoError(t, err)
		require.Equal(t, len(s), n)
	}
	return out.String()
}

func TestControlsAreShownNotObeyed(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\tb\nc":                      "a\tb\nc",
		"Müller, 陳, e\u0301, 👩‍🔬":      "Müller, 陳, e\u0301, 👩‍🔬",
		"\x1b]0;title\a\x1b[2Jx":       `\u001b]0;title\u0007\u001b[2Jx`,
		"over\rwritten\b\x7f":          `over\u000dwritten\u0008\u007f`,
		"C1 \u009b31m":                 `C1 \u009b31m`,
		"a raw byte \x9b31m":           "a raw byte \ufffd31m",
		"\u202efdp.exe\u2066\u200f":    `\u202efdp.exe\u2066\u200f`,
		"line\u2028separator\u2029end": `line\u2028separator\u2029end`,
	} {
		require.Equal(t, want, shown(t, in))
	}
}

func TestCharactersMayBeWrittenInParts(t *testing.T) {
	t.Parallel()
	text := "Ångström \u202e 陳 \x1b[1m 👩"
	var bytes []string
	for i := range len(text) {
		bytes = append(bytes, text[i:i+1])
	}
	require.Equal(t, shown(t, text), shown(t, bytes...))
}

func TestJSONStaysTheSame(t *testing.T) {
	t.Parallel()
	title := "\x1b[2J \u009b \u202e \x7f \"quoted\"\n\ttext"
	raw, err := json.Marshal(title)
	require.NoError(t, err)
	var back string
	require.NoError(t, json.Unmarshal([]byte(shown(t, string(raw))), &back))
	require.Equal(t, title, back)
}

func FuzzNothingToObey(f *testing.F) {
	f.Add("\x1b[2J", "\u202e")
	f.Fuzz(func(t *testing.T, a, b string) {
		out := shown(t, a, b)
		require.True(t, utf8.ValidString(out))
		for _, r := range out {
			require.False(t, unicode.IsControl(r) && r != '\n' && r != '\t', "%q", out)
			require.False(t, unicode.Is(unicode.Bidi_Control, r), "%q", out)
		}
	})
}
