package page_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// encoded is text in a character set.
func encoded(t *testing.T, charset, text string) []byte {
	enc, err := htmlindex.Get(charset)
	require.NoError(t, err)
	out, err := enc.NewEncoder().Bytes([]byte(text))
	require.NoError(t, err)
	return out
}

var samples = map[string]string{
	"german":  "Die Veröffentlichungen der Universität über große Gefüge und schöne Bücher, für Schüler und Hörer. Natürlich können Sie die Aufsätze hier lesen. ",
	"russian": "Это домашняя страница профессора математики. Здесь можно найти его статьи и книги, а также лекции для студентов университета. ",
	"japan":   "これは情報科学の研究者のホームページです。論文の一覧と講義の資料をここに掲載しています。学生の皆さんもご覧ください。",
	"chinese": "这是一个计算机科学研究人员的主页。您可以在这里找到论文列表和讲义。欢迎学生和同事们访问本网站，并提出宝贵的意见。",
	"korean":  "이것은 컴퓨터 과학 연구자의 홈페이지입니다. 여기에서 논문 목록과 강의 자료를 볼 수 있습니다. 학생 여러분의 방문을 환영합니다.",
}

func TestCharset(t *testing.T) {
	t.Parallel()
	const html = "text/html"
	tests := []struct{ name, sample, charset, header, meta, want string }{
		{"header", "german", "windows-1252", html + "; charset=ISO-8859-1", "", "windows-1252"},
		{"meta", "russian", "koi8-r", html, `<meta charset="koi8-r">`, "koi8-r"},
		{"meta http-equiv", "japan", "shift_jis", html, `<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">`, "shift_jis"},
		{"xml declaration", "german", "windows-1252", html, `<?xml version="1.0" encoding="iso-8859-1"?>`, "windows-1252"},
		{"header against valid UTF-8", "german", "utf-8", html + "; charset=ISO-8859-1", "", "utf-8"},
		{"header UTF-8, bytes are not", "german", "windows-1252", html + "; charset=utf-8", `<meta charset=iso-8859-1>`, "windows-1252"},
		{"header UTF-8, bytes are not, no meta", "german", "windows-1252", html + "; charset=utf-8", "", "windows-1252"},
		{"default header against the author", "japan", "euc-jp", html + "; charset=ISO-8859-1", `<meta charset=euc-jp>`, "euc-jp"},
		{"unknown name", "german", "windows-1252", html + "; charset=none", "", "windows-1252"},
		{"guess utf-8", "chinese", "utf-8", "", "", "utf-8"},
		{"guess windows-1252", "german", "windows-1252", "", "", "windows-1252"},
		{"guess iso-2022-jp", "japan", "iso-2022-jp", "", "", "iso-2022-jp"},
		{"guess euc-jp", "japan", "euc-jp", "", "", "euc-jp"},
		{"guess shift_jis", "japan", "shift_jis", "", "", "shift_jis"},
		{"guess gb18030", "chinese", "gb18030", "", "", "gb18030"},
		{"guess big5 or like it", "korean", "euc-kr", "", "", "euc-kr"},
		{"guess koi8-r", "russian", "koi8-r", "", "", "koi8-r"},
		{"guess windows-1251", "russian", "windows-1251", "", "", "windows-1251"},
	}
	for _, tt := range tests {
		text := strings.Repeat(samples[tt.sample]+"\n", 4)
		body := encoded(t, tt.charset, tt.meta+"<html><body><p>"+text+`</p><a href="x.html">`+samples[tt.sample][:30]+"</a></body></html>")
		p := parse(t, http.Header{"Content-Type": {tt.header}}, string(body))
		assert.Equal(t, tt.want, p.Charset, tt.name)
		assert.True(t, strings.HasPrefix(p.Text, strings.TrimSpace(samples[tt.sample])), tt.name)
		assert.Len(t, p.Links, 1, tt.name)
	}
}

func TestMarksAndUTF16(t *testing.T) {
	t.Parallel()
	const text = "<html><head><title>Größe</title></head><body><a href=x.html>übung</a></body></html>"
	le, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	require.NoError(t, err)
	be, err := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder().String(text)
	require.NoError(t, err)
	for body, want := range map[string]string{"\xef\xbb\xbf" + text: "utf-8", le: "utf-16le", be: "utf-16be"} {
		p := parse(t, http.Header{"Content-Type": {"text/html; charset=windows-1251"}}, body)
		require.Len(t, p.Links, 1, want)
		assert.Equal(t, []string{want, "Größe", "übung"}, []string{p.Charset, p.Title, p.Links[0].Anchor})
	}
}

func TestQueryInThePagesCharset(t *testing.T) {
	t.Parallel()
	body := encoded(t, "windows-1252", `<meta charset=windows-1252><a href="s?q=größe&x=1#ö">s</a><a href="größe.html">p</a>`)
	p := parse(t, nil, string(body))
	require.Equal(t, "http://www.example.edu/~ada/s?q=gr%F6%DFe&x=1", p.Links[0].URL, "links")
	assert.Equal(t, "http://www.example.edu/~ada/gr%C3%B6%C3%9Fe.html", p.Links[1].URL, "links")
}
