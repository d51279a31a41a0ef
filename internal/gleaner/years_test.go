package gleaner

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestYearsHaveOneForm, however they are written, and it is read back as the same.
func TestYearsHaveOneForm(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"2003": "2003", "1998-2004": "1998-2004", "1998 – 2004": "1998-2004", "2003-2003": "2003",
		"2003,2005": "2003,2005", "2007, 2001-2003": "2001-2003,2007", "2001,2002,2003": "2001-2003", "2001-2004,2003-2006": "2001-2006", "2005,2005": "2005",
	} {
		years, err := ParseYears(given)
		require.NoError(t, err, given)
		require.Equal(t, want, years.String(), given)
		again, err := ParseYears(want)
		require.NoError(t, err)
		require.Equal(t, years, again, given)
		require.Equal(t, years, YearsOf(years.All()...), given)
	}
	var odd []string
	for y := 1901; y < 1990; y += 2 {
		odd = append(odd, Years{From: y, To: y}.String())
	}
	for _, wrong := range []string{"", "soon", "2003,", "2004-1998", "12", "3000", "2001-2003-2005", strings.Join(odd, ",")} {
		_, err := ParseYears(wrong)
		require.ErrorContains(t, err, "years", wrong)
	}
	require.Equal(t, "all years", Years{}.String())
	require.Nil(t, Years{}.All())
	require.Equal(t, Years{}, YearsOf())
}

func TestYearsContain(t *testing.T) {
	t.Parallel()
	list := YearsOf(2001, 2002, 2007)
	require.Equal(t, Years{From: 2001, To: 2007, List: "2001-2002,2007"}, list)
	for y, want := range map[int]bool{0: false, 2000: false, 2001: true, 2002: true, 2003: false, 2007: true, 2008: false} {
		require.Equal(t, want, list.Contains(y), y)
		require.True(t, Years{}.Contains(y))
	}
	require.False(t, Years{From: 2001, To: 2003}.Contains(0))
	require.True(t, list.Meet(Years{From: 2002, To: 2006}))
	require.False(t, list.Meet(Years{From: 2003, To: 2006}))
	require.True(t, Years{From: 1998, To: 2004}.Meet(Years{From: 2004, To: 2010}))
	require.True(t, list.Meet(Years{}))
	require.Equal(t, 0, list.Single())
	require.Equal(t, 2003, YearsOf(2003).Single())
}
