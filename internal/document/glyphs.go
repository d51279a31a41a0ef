package document

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// glyphNames are the names of the Adobe glyph list that occur in papers' text;
// single letters name themselves. A name and its text are parted by "=".
const glyphNames = `space=  exclam=! quotedbl=" numbersign=# dollar=$ percent=% ampersand=& quotesingle=' quoteright=’ quoteleft=‘
parenleft=( parenright=) asterisk=* plus=+ comma=, hyphen=- minus=− period=. slash=/ zero=0 one=1 two=2 three=3 four=4 five=5
six=6 seven=7 eight=8 nine=9 colon=: semicolon=; less=< equal== greater=> question=? at=@ bracketleft=[ backslash=\ bracketright=]
asciicircum=^ underscore=_ grave=` + "`" + ` braceleft={ bar=| braceright=} asciitilde=~ ff=ff fi=fi fl=fl ffi=ffi ffl=ffl
endash=– emdash=— bullet=• quotedblleft=“ quotedblright=” quotedblbase=„ quotesinglbase=‚ ellipsis=… dagger=† daggerdbl=‡
perthousand=‰ guilsinglleft=‹ guilsinglright=› guillemotleft=« guillemotright=» fraction=⁄ Euro=€ cent=¢ sterling=£ yen=¥
section=§ copyright=© registered=® trademark=™ paragraph=¶ periodcentered=· degree=° plusminus=± mu=μ multiply=× divide=÷
logicalnot=¬ ordfeminine=ª ordmasculine=º onesuperior=¹ twosuperior=² threesuperior=³ onequarter=¼ onehalf=½ threequarters=¾
exclamdown=¡ questiondown=¿ currency=¤ brokenbar=¦ germandbls=ß AE=Æ ae=æ OE=Œ oe=œ Oslash=Ø oslash=ø Lslash=Ł lslash=ł
dotlessi=ı dotlessj=ȷ eth=ð Eth=Ð thorn=þ Thorn=Þ florin=ƒ acute=´ circumflex=ˆ tilde=˜ macron=¯ breve=˘ dotaccent=˙
dieresis=¨ ring=˚ cedilla=¸ hungarumlaut=˝ ogonek=˛ caron=ˇ nbspace=  sfthyphen=- visiblespace=␣
Agrave=À Aacute=Á Acircumflex=Â Atilde=Ã Adieresis=Ä Aring=Å Ccedilla=Ç Egrave=È Eacute=É Ecircumflex=Ê Edieresis=Ë
Igrave=Ì Iacute=Í Icircumflex=Î Idieresis=Ï Ntilde=Ñ Ograve=Ò Oacute=Ó Ocircumflex=Ô Otilde=Õ Odieresis=Ö Ugrave=Ù Uacute=Ú
Ucircumflex=Û Udieresis=Ü Yacute=Ý agrave=à aacute=á acircumflex=â atilde=ã adieresis=ä aring=å ccedilla=ç egrave=è eacute=é
ecircumflex=ê edieresis=ë igrave=ì iacute=í icircumflex=î idieresis=ï ntilde=ñ ograve=ò oacute=ó ocircumflex=ô otilde=õ
odieresis=ö ugrave=ù uacute=ú ucircumflex=û udieresis=ü yacute=ý ydieresis=ÿ Ydieresis=Ÿ Scaron=Š scaron=š Zcaron=Ž zcaron=ž
Cacute=Ć cacute=ć Ccaron=Č ccaron=č Dcaron=Ď dcaron=ď dcroat=đ Dcroat=Đ ecaron=ě Ecaron=Ě eogonek=ę Eogonek=Ę gbreve=ğ Gbreve=Ğ
Idotaccent=İ Lacute=Ĺ lacute=ĺ lcaron=ľ Nacute=Ń nacute=ń Ncaron=Ň ncaron=ň Ohungarumlaut=Ő ohungarumlaut=ő Racute=Ŕ racute=ŕ
Rcaron=Ř rcaron=ř Sacute=Ś sacute=ś Scedilla=Ş scedilla=ş Tcaron=Ť tcaron=ť Uring=Ů uring=ů Uhungarumlaut=Ű uhungarumlaut=ű
Zacute=Ź zacute=ź Zdotaccent=Ż zdotaccent=ż aogonek=ą Aogonek=Ą abreve=ă Abreve=Ă amacron=ā emacron=ē imacron=ī omacron=ō umacron=ū
alpha=α beta=β gamma=γ delta=δ epsilon=ε epsilon1=ϵ zeta=ζ eta=η theta=θ theta1=ϑ iota=ι kappa=κ lambda=λ nu=ν xi=ξ omicron=ο
pi=π rho=ρ sigma=σ sigma1=ς tau=τ upsilon=υ phi=φ phi1=ϕ chi=χ psi=ψ omega=ω Gamma=Γ Delta=Δ Theta=Θ Lambda=Λ Xi=Ξ Pi=Π
Sigma=Σ Upsilon=Υ Phi=Φ Psi=Ψ Omega=Ω infinity=∞ element=∈ notelement=∉ existential=∃ universal=∀ emptyset=∅ partialdiff=∂
nabla=∇ gradient=∇ radical=√ summation=∑ product=∏ integral=∫ approxequal=≈ notequal=≠ lessequal=≤ greaterequal=≥ equivalence=≡
similar=∼ propersubset=⊂ propersuperset=⊃ reflexsubset=⊆ reflexsuperset=⊇ intersection=∩ union=∪ logicaland=∧ logicalor=∨
arrowright=→ arrowleft=← arrowup=↑ arrowdown=↓ arrowboth=↔ arrowdblright=⇒ arrowdblleft=⇐ arrowdblboth=⇔ asteriskmath=∗
circleplus=⊕ circlemultiply=⊗ angleleft=⟨ angleright=⟩ floorleft=⌊ floorright=⌋ ceilingleft=⌈ ceilingright=⌉ prime=′ dotmath=⋅
turnstileleft=⊢ latticetop=⊤ perpendicular=⊥ bardbl=‖ negationslash≠ mapsto=↦ lscript=ℓ openbullet=◦ triangle=△ checkmark=✓`

// glyphTable is glyphNames as a map. It is made once for each document read.
func glyphTable() map[string]string {
	t := make(map[string]string, 400)
	for f := range strings.SplitSeq(strings.ReplaceAll(glyphNames, "\n", " "), " ") {
		if name, text, ok := strings.Cut(f, "="); ok {
			t[name] = text
		}
	}
	t["space"], t["nbspace"] = " ", " "
	return t
}

// glyphText resolves a glyph's name: the list, uniXXXX and uXXXXX, components
// (f_i), variants (a.sc). "" when the name tells nothing.
func glyphText(table map[string]string, name string) string {
	if s, ok := table[name]; ok {
		return s
	}
	if utf8.RuneCountInString(name) == 1 {
		return name
	}
	if base, _, ok := strings.Cut(name, "."); ok && base != "" {
		return glyphText(table, base)
	}
	if strings.Contains(name, "_") {
		var b strings.Builder
		for part := range strings.SplitSeq(name, "_") {
			b.WriteString(glyphText(table, part))
		}
		return b.String()
	}
	for _, prefix := range []string{"uni", "u"} {
		if h, ok := strings.CutPrefix(name, prefix); ok && len(h) >= 4 && len(h) <= 6 {
			if v, err := strconv.ParseUint(h, 16, 32); err == nil && v < 0x110000 {
				return string(rune(v))
			}
		}
	}
	return ""
}

// texOT1 is the low half of TeX's text encoding, which bitmap fonts and fonts
// without an encoding of their own use.
var texOT1 = [32]string{
	"Γ", "Δ", "Θ", "Λ", "Ξ", "Π", "Σ", "Υ", "Φ", "Ψ", "Ω", "ff", "fi", "fl", "ffi", "ffl",
	"ı", "ȷ", "`", "´", "ˇ", "˘", "¯", "˚", "¸", "ß", "æ", "œ", "ø", "Æ", "Œ", "Ø",
}

func ot1(c byte) string {
	switch {
	case c < 32:
		return texOT1[c]
	case c == 0x22:
		return "”"
	case c == 0x5c:
		return "“"
	case c == 0x7b:
		return "–"
	case c == 0x7c:
		return "—"
	case c == 0x7f:
		return "¨"
	case c < 0x7f:
		return string(rune(c))
	}
	return ""
}

// baseEncoding names what a code means where the font does not say: MacRoman,
// or Windows 1252, which agrees with the standard encoding on all but accents.
func baseEncoding(name string, c byte) string {
	if c < 32 {
		return ""
	}
	m := charmap.Windows1252
	if name == "MacRomanEncoding" {
		m = charmap.Macintosh
	}
	r := m.DecodeByte(c)
	if r == utf8.RuneError {
		return ""
	}
	return string(r)
}

// accents that TeX sets as a glyph of its own, with the combining form.
var combining = map[string]string{
	"´": "\u0301", "`": "\u0300", "ˆ": "\u0302", "˜": "\u0303", "¨": "\u0308", "˚": "\u030a",
	"ˇ": "\u030c", "˘": "\u0306", "¯": "\u0304", "˙": "\u0307", "¸": "\u0327", "˝": "\u030b", "˛": "\u0328",
}
