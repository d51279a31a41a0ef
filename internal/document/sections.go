package document

import (
	"regexp"
	"strings"
	"unicode"
)

// section is a heading that papers have.
type section byte

const (
	secNone section = iota
	secAbstract
	secIntroduction
	secConclusion
	secAcknowledgements
	secReferences
	secContents
	secEducation
	secPublications
	secAppendix
	sections
)

// sectionOf names the section that a heading announces: the words stand in
// lower case and without blanks, since letter-spaced capitals come apart
// ("R EFERENCES"). secNone for any other line.
func sectionOf(key string) section {
	switch key {
	case "abstract", "summary", "zusammenfassung", "kurzfassung", "résumé", "resumen", "resumo", "sommario", "riassunto",
		"samenvatting", "sammanfattning", "sammendrag", "streszczenie", "abstrakt", "аннотация", "анотація", "реферат", "περίληψη", "özet", "摘要", "要旨", "概要", "초록", "요약":
		return secAbstract
	case "introduction", "motivation", "background", "overviewandmotivation", "einleitung", "einführung", "introducción", "introdução", "introduzione",
		"inleiding", "inledning", "innledning", "wstęp", "wprowadzenie", "úvod", "введение", "вступ", "εισαγωγή", "giriş", "引言", "绪论", "前言", "序論", "はじめに", "서론":
		return secIntroduction
	case "conclusion", "conclusions", "concludingremarks", "discussion", "futurework", "finalremarks", "fazit", "conclusión", "conclusiones", "conclusão", "conclusões", "consideraçõesfinais", "conclusioni",
		"conclusie", "conclusies", "slutsats", "slutsatser", "konklusjon", "podsumowanie", "wnioski", "závěr", "заключение", "выводы", "висновки", "συμπεράσματα", "sonuç", "sonuçlar", "结论", "结语", "結論", "おわりに", "まとめ", "결론":
		return secConclusion
	case "acknowledgement", "acknowledgements", "acknowledgment", "acknowledgments", "danksagung", "remerciements", "agradecimientos", "agradecimentos":
		return secAcknowledgements
	case "references", "bibliography", "literaturecited", "workscited", "literature", "referencesandnotes", "referencescited", "selectedreferences",
		"literatur", "literaturverzeichnis", "références", "bibliographie", "referencias", "bibliografía", "referências", "bibliografia",
		"riferimentibibliografici", "referenties", "literatuur", "referenser", "referanser", "piśmiennictwo", "literatura", "литература", "списоклитературы", "література", "βιβλιογραφία", "kaynaklar", "kaynakça", "参考文献", "參考文獻", "文献", "참고문헌":
		return secReferences
	case "contents", "tableofcontents", "inhalt", "inhaltsverzeichnis", "outline", "agenda":
		return secContents
	case "education":
		return secEducation
	case "publications", "publication", "selectedpublications", "recentpublications", "refereedpublications", "journalpublications", "conferencepublications":
		return secPublications
	case "appendix", "appendices", "supplementarymaterial", "proofs":
		return secAppendix
	}
	for _, h := range sectionPrefixes {
		if strings.HasPrefix(key, h.prefix) {
			return h.section
		}
	}
	return secNone
}

var sectionPrefixes = []struct {
	prefix  string
	section section
}{
	{"introductionand", secIntroduction}, {"conclusionand", secConclusion}, {"conclusionsand", secConclusion},
	{"discussionand", secConclusion}, {"summaryand", secConclusion}, {"appendix", secAppendix}, {"proofof", secAppendix},
}

// numberPrefix is the number before a heading.
var numberPrefix = regexp.MustCompile(`^(?:[0-9]{1,2}(?:\.[0-9])?|[ivxIVX]{1,4}|[a-dA-D])(?:[.):]\s*|\s+)`)

// headingLine is the longest line that can be a heading, in bytes.
const headingLine = 70

// heading reads a line as a heading, with and without its number: the "I" of
// "I NTRODUCTION" is no number.
func headingOf(line string) section {
	line = strings.TrimFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if line == "" || len(line) > headingLine {
		return secNone
	}
	if s := sectionOf(squeeze(line)); s != secNone {
		return s
	}
	if strings.IndexByte("0123456789ivxIVXabcdABCD", line[0]) < 0 {
		return secNone
	}
	if n := len(numberPrefix.FindString(line)); n > 0 {
		return sectionOf(squeeze(line[n:]))
	}
	return secNone
}

func squeeze(s string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), " ", ""))
}

// abstractInline knows "Abstract—We show", "Summary. We" and the like.
func abstractInline(line string) bool {
	s := strings.TrimLeftFunc(line, func(r rune) bool { return !unicode.IsLetter(r) })
	for _, w := range []string{"abstract", "summary", "resumo", "résumé", "resumen", "zusammenfassung", "аннотация", "摘要", "要旨", "초록"} {
		if len(s) > len(w) && strings.EqualFold(s[:len(w)], w) {
			rest := strings.TrimLeft(s[len(w):], " ")
			return rest != "" && strings.ContainsAny(strings.ToValidUTF8(rest[:min(3, len(rest))], ""), ".:—–-：")
		}
	}
	return false
}
