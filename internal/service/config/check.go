package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-viper/mapstructure/v2"
)

// decode reads a setting's text into its field, and checks it. Its error says what
// is wanted, and repeats no secret.
func (s Setting) decode(given any, to reflect.Value) error {
	err := read(given, to)
	if err == nil {
		err = s.check(to)
	}
	switch {
	case err == nil:
		return nil
	case s.Secret:
		return fmt.Errorf("want %s (not shown: it may hold a password)", s.wants())
	}
	return fmt.Errorf("want %s, not %q", s.wants(), fmt.Sprint(given))
}

// read decodes text, or a list of texts: there is nothing else at any level, and
// nothing is guessed from its form.
func read(given any, to reflect.Value) error {
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result: to.Addr().Interface(), ZeroFields: true,
		DecodeHook: decodeHook,
	})
	if err != nil {
		return err
	}
	return d.Decode(given)
}

// decodeHook is composed once: it takes longer than to decode a setting.
var decodeHook = mapstructure.ComposeDecodeHookFunc(durationHook, listHook,
	mapstructure.TextUnmarshallerHookFunc(), mapstructure.StringToBasicTypeHookFunc())

func durationHook(_, to reflect.Type, data any) (any, error) {
	if text, ok := data.(string); ok && to == reflect.TypeFor[time.Duration]() {
		return ParseDuration(text)
	}
	return data, nil
}

// listHook splits text at commas and blanks where a list is wanted.
func listHook(_, to reflect.Type, data any) (any, error) {
	if text, ok := data.(string); ok && to.Kind() == reflect.Slice {
		return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }), nil
	}
	return data, nil
}

// check holds a value, or each of a list, to its choices, bounds and form.
func (s Setting) check(v reflect.Value) error {
	if v.Kind() == reflect.Slice {
		var err error
		for i := range v.Len() {
			err = errors.Join(err, s.check(v.Index(i)))
		}
		return err
	}
	if c := s.Choices(); c != nil {
		return OneOf(v.String(), c)
	}
	for _, bound := range []struct {
		text string
		ok   func(order int) bool
	}{
		{s.field.Tag.Get("min"), func(order int) bool { return order >= 0 }},
		{s.field.Tag.Get("max"), func(order int) bool { return order <= 0 }},
	} {
		if bound.text == "" {
			continue
		}
		limit := reflect.New(v.Type()).Elem()
		if err := read(bound.text, limit); err != nil {
			return err
		}
		if !bound.ok(cmp.Compare(number(v), number(limit))) { // what is no number is less than any
			return errors.New("out of bounds")
		}
	}
	if v.Kind() == reflect.String && v.String() != "" {
		return checkForm(s.field.Tag.Get("check"), v.String())
	}
	return nil
}

// OneOf says what is wrong where v is none of the choices.
func OneOf(v string, choices []string) error {
	if slices.Contains(choices, v) {
		return nil
	}
	return fmt.Errorf("want one of %s, not %q", strings.Trim(strings.Join(choices, ", "), ", "), v)
}

// number is the value of a number of any type.
func number(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	}
	return v.Float()
}

// forms are the forms of texts: what is wanted, and whether a text is that.
var forms = map[string]struct {
	wants string
	is    func(v string) bool
}{
	"text":   {"text of one line", func(string) bool { return true }},
	"word":   {"one word", func(v string) bool { return !strings.ContainsFunc(v, unicode.IsSpace) }},
	"host":   {"host:port", isHostPort},
	"url":    {"an address such as file:///path or s3://bucket", hasScheme},
	"mirror": {anHTTPAddress, func(v string) bool { return v == "-" || isAddress(v, "http", "https") }},
	"http":   {anHTTPAddress, func(v string) bool { return isAddress(v, "http", "https") }},
	"smtp": {"an address such as smtp://mail.example:587 or smtps://user:password@mail.example",
		func(v string) bool { return isAddress(v, "smtp", "smtps") }},
	"mail": {"mail addresses such as library@example.edu, with commas between", areMailAddresses},
	"proxy": {"an address such as http://proxy.example:3128, or none",
		func(v string) bool { return v == "none" || isAddress(v, "http", "https", "socks5", "socks5h") }},
}

const anHTTPAddress = "an address such as https://service.example"

// checkForm holds text to a form. A field without a form takes nothing.
func checkForm(form, v string) error {
	f, known := forms[form]
	if !known || strings.ContainsFunc(v, unicode.IsControl) || !f.is(v) {
		return errors.New("wrong form")
	}
	return nil
}

func isHostPort(v string) bool {
	_, port, err := net.SplitHostPort(strings.TrimPrefix(v, "dns:///"))
	return err == nil && port != ""
}

func hasScheme(v string) bool {
	u, err := url.Parse(v)
	return err == nil && u.Scheme != ""
}

func areMailAddresses(v string) bool {
	_, err := mail.ParseAddressList(v)
	return err == nil
}

func isAddress(v string, schemes ...string) bool {
	u, err := url.Parse(v)
	return err == nil && u.Host != "" && slices.Contains(schemes, u.Scheme)
}

// wants says what a setting takes.
func (s Setting) wants() string {
	t, many := s.field.Type, ""
	if t.Kind() == reflect.Slice {
		t, many = t.Elem(), ", or several of them with commas between"
	}
	if c := s.Choices(); c != nil {
		return "one of " + strings.Join(c, ", ") + many
	}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "a duration such as 500ms, 90s, 12h, 30d or 2w" + s.bounds()
	case reflect.TypeFor[Size]():
		return "a number of bytes such as 10485760, 10MiB or 20GB" + s.bounds()
	case reflect.TypeFor[Network]():
		return "a network such as 10.1.0.0/16 or 127.0.0.1/32:8000" + many
	case reflect.TypeFor[Port]():
		return "a port" + many
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number" + s.bounds()
	case reflect.Float64:
		return "a number" + s.bounds()
	}
	return cmp.Or(forms[s.field.Tag.Get("check")].wants, forms["text"].wants)
}

func (s Setting) bounds() string {
	least, most := s.field.Tag.Get("min"), s.field.Tag.Get("max")
	switch {
	case least != "" && most != "":
		return " from " + least + " to " + most
	case least != "":
		return " from " + least + " on"
	}
	return ""
}

// text is how the value of a field is written, so that decode reads it again.
func text(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Duration:
		return DurationText(x)
	case Secret:
		return string(x)
	case fmt.Stringer:
		return x.String()
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	if v.Kind() == reflect.Slice {
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = text(v.Index(i))
		}
		return strings.Join(parts, ",")
	}
	return fmt.Sprint(v.Interface())
}
