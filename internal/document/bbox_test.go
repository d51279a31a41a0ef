package document

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseBBox(t *testing.T) {
	t.Parallel()
	s := &scan{}
	parseBBox([]byte(`<html><head>
<title>A &amp; B</title>
<meta name="Author" content="Ada &quot;A&quot; Example"/>
</head><body><doc>
  <page width="612.0" height="792.0">
    <flow>
      <block xMin="1" yMin="1" xMax="2" yMax="2">
        <line xMin="72.0" yMin="60.0" xMax="200.0" yMax="72.0">
          <word xMin="72.0" yMin="60.0" xMax="79.0" yMax="72.0">B</word>
          <word xMin="79.5" yMin="62.0" xMax="98.0" yMax="72.0">LUM</word>
          <word xMin="104.0" yMin="60.0" xMax="112.0" yMax="72.0">M</word>
          <word xMin="112.5" yMin="62.0" xMax="160.0" yMax="72.0">ANSOUR,</word>
          <word xMin="165.0" yMin="60.0" xMax="172.0" yMax="72.0">A</word>
          <word xMin="178.0" yMin="60.0" xMax="200.0" yMax="72.0">TALE</word>
        </line>
      </block>
      <block xMin="1" yMin="1" xMax="2" yMax="2">
        <line xMin="72.0" yMin="90.0" xMax="200.0" yMax="100.0">
          <word xMin="72.0" yMin="90.0" xMax="90.0" yMax="100.0">eﬃcient</word>
        </line>
      </block>
    </flow>
  </page>
  <page width="612.0" height="792.0">
  </page>
  <page width="612.0" hei`), s)
	require.Len(t, s.Pages, 3, "a cut file keeps what was whole")
	assert.Equal(t, "A & B", s.Title)
	assert.Equal(t, "BLUM MANSOUR, A TALE\n\nefficient", s.Pages[0].text(), "small capitals joined, an article left alone")
	assert.InDelta(t, 12, s.Pages[0].Lines[0].Size, 0.1)
	assert.Empty(t, s.Pages[1].Lines)
}
