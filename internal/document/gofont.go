package document

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/ledongthuc/pdf"
)

// goFont turns the codes of a string into text and widths.
type goFont struct {
	bytes     int // per code: 1 or 2
	unicode   map[uint32]string
	table     [256]string // for one-byte codes without a unicode entry
	widths    map[uint32]float64
	otherwise float64 // width of all other codes, in text space units
}

// decode calls do for each code with its text, its width in ems, and whether
// word spacing applies.
func (f *goFont) decode(s string, do func(text string, width float64, space bool)) {
	for i := 0; i+f.bytes <= len(s); i += f.bytes {
		code := uint32(s[i])
		if f.bytes == 2 {
			code = code<<8 | uint32(s[i+1])
		}
		w, ok := f.widths[code]
		if !ok {
			w = f.otherwise
		}
		text, ok := f.unicode[code]
		if !ok && f.bytes == 1 {
			text = f.table[code]
		}
		do(text, w, f.bytes == 1 && code == ' ')
	}
}

// maxFontStream bounds a character map or the clear part of a font file.
const maxFontStream = 4 << 20

func streamBytes(v pdf.Value, limit int64) []byte {
	if v.Kind() != pdf.Stream {
		return nil
	}
	r := v.Reader()
	defer r.Close()
	b, _ := io.ReadAll(io.LimitReader(r, limit)) // what could be inflated counts
	return b
}

// newGoFont reads a font dictionary (ISO 32000-1, 9.6 and 9.10).
func newGoFont(v pdf.Value, names map[string]string) *goFont {
	f := &goFont{bytes: 1, widths: map[uint32]float64{}, unicode: map[uint32]string{}, otherwise: 0.5}
	subtype := v.Key("Subtype").Name()
	if subtype == "Type0" {
		f.composite(v)
	} else {
		f.simple(v, subtype, names)
	}
	if m := streamBytes(v.Key("ToUnicode"), maxFontStream); m != nil {
		f.readCMap(m)
	}
	return f
}

func (f *goFont) composite(v pdf.Value) {
	f.bytes, f.otherwise = 2, 1
	d := v.Key("DescendantFonts").Index(0)
	if dw := d.Key("DW"); !dw.IsNull() {
		f.otherwise = dw.Float64() / 1000
	}
	w := d.Key("W")
	for i := 0; i+1 < w.Len(); {
		first := w.Index(i).Int64()
		if next := w.Index(i + 1); next.Kind() == pdf.Array {
			for j := range next.Len() {
				f.widths[uint32(first)+uint32(j)] = next.Index(j).Float64() / 1000
			}
			i += 2
			continue
		}
		last, width := w.Index(i+1).Int64(), w.Index(i+2).Float64()/1000
		for c := first; c <= last && c-first < 1<<16; c++ {
			f.widths[uint32(c)] = width
		}
		i += 3
	}
	if enc := v.Key("Encoding"); enc.Kind() == pdf.Name && strings.Contains(enc.Name(), "UCS2") {
		for c := range uint32(1 << 16) {
			f.unicode[c] = string(rune(c))
		}
	}
}

func (f *goFont) simple(v pdf.Value, subtype string, names map[string]string) {
	unit := 0.001
	if subtype == "Type3" {
		if m := v.Key("FontMatrix"); m.Len() == 6 && m.Index(0).Float64() != 0 {
			unit = m.Index(0).Float64()
		}
	}
	first := v.Key("FirstChar").Int64()
	ws := v.Key("Widths")
	for i := range min(ws.Len(), 256) {
		f.widths[uint32(first)+uint32(i)] = ws.Index(i).Float64() * unit
	}
	f.fillTable(v, subtype, names)
}

var texFont = regexp.MustCompile(`^(?:[A-Z]{6}\+)?(?:CM|LM|SFRM|cm|lm)(?:R|BX|TI|SL|SS|TT|B|CSC|DUNH|r|bx|ti|sl|ss|tt|csc)`)

// fillTable finds what one-byte codes mean: the encoding's own words first,
// then those of the embedded font, then the family's habit.
func (f *goFont) fillTable(v pdf.Value, subtype string, names map[string]string) {
	enc := v.Key("Encoding")
	base := enc.Name()
	if enc.Kind() == pdf.Dict {
		base = enc.Key("BaseEncoding").Name()
	}
	tex := subtype == "Type3" || texFont.MatchString(v.Key("BaseFont").Name())
	for c := range 256 {
		if base == "" && tex {
			f.table[c] = ot1(byte(c))
			continue
		}
		f.table[c] = baseEncoding(base, byte(c))
	}
	if base == "" {
		for c, name := range type1Encoding(streamBytes(v.Key("FontDescriptor").Key("FontFile"), 64<<10)) {
			f.setGlyph(c, name, names, subtype)
		}
	}
	code := 0
	diff := enc.Key("Differences")
	for i := range diff.Len() {
		switch d := diff.Index(i); d.Kind() {
		case pdf.Integer:
			code = int(d.Int64())
		case pdf.Name:
			f.setGlyph(code, d.Name(), names, subtype)
			code++
		}
	}
}

var numbered = regexp.MustCompile(`^[a-zA-Z]{1,2}([0-9]{1,3})$`)

// setGlyph enters one named glyph. Bitmap fonts name glyphs by their codes
// ("a65"), which then mean TeX's encoding.
func (f *goFont) setGlyph(code int, name string, names map[string]string, subtype string) {
	if code < 0 || code > 255 || name == ".notdef" {
		return
	}
	s := glyphText(names, name)
	if s == "" {
		if m := numbered.FindStringSubmatch(name); m != nil && subtype == "Type3" {
			if n, err := strconv.Atoi(m[1]); err == nil && n < 256 {
				s = ot1(byte(n))
			}
		}
	}
	if s != "" {
		f.table[code] = s
	}
}

var dupPut = regexp.MustCompile(`dup\s+(\d{1,3})\s*/([A-Za-z0-9_.]+)\s+put`)

// type1Encoding reads the encoding in the clear part of a Type 1 font program:
// where fonts made by TeX keep it when the PDF does not repeat it.
func type1Encoding(program []byte) map[int]string {
	if i := bytes.Index(program, []byte("eexec")); i >= 0 {
		program = program[:i]
	}
	m := map[int]string{}
	for _, x := range dupPut.FindAllSubmatch(program, -1) {
		if code, err := strconv.Atoi(string(x[1])); err == nil {
			m[code] = string(x[2])
		}
	}
	return m
}

// readCMap reads a ToUnicode map (ISO 32000-1, 9.10.3).
func (f *goFont) readCMap(b []byte) {
	l := lexer{b: b}
	var args []token
	for {
		t := l.next()
		switch {
		case t.kind == tokEOF:
			return
		case t.kind != tokOperator:
			args = append(args, t)
			continue
		}
		switch t.str {
		case "endcodespacerange":
			if f.bytes == 2 && len(args) >= 2 && len(args[len(args)-1].str) == 1 {
				f.bytes = 1
			}
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				f.unicode[codeOf(args[i].str)] = utf16Text(args[i+1].str)
			}
		case "endbfrange":
			f.ranges(args)
		}
		args = args[:0]
	}
}

func (f *goFont) ranges(args []token) {
	for i := 0; i+2 < len(args); {
		lo, hi := codeOf(args[i].str), codeOf(args[i+1].str)
		i += 2
		if hi-lo >= 1<<16 {
			return
		}
		if args[i].kind != tokArrayOpen {
			base := []rune(utf16Text(args[i].str))
			for c := lo; c <= hi && len(base) > 0; c++ {
				f.unicode[c] = string(base)
				base[len(base)-1]++
			}
			i++
			continue
		}
		i++
		for c := lo; i < len(args) && args[i].kind != tokArrayClose; i++ {
			f.unicode[c] = utf16Text(args[i].str)
			c++
		}
		i++
	}
}

func codeOf(s string) uint32 {
	var v uint32
	for i := range min(len(s), 4) {
		v = v<<8 | uint32(s[i])
	}
	return v
}

func utf16Text(s string) string {
	if len(s) == 1 {
		return string(rune(s[0]))
	}
	u := make([]uint16, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		u = append(u, uint16(s[i])<<8|uint16(s[i+1]))
	}
	return strings.ReplaceAll(string(utf16.Decode(u)), "\x00", "")
}
