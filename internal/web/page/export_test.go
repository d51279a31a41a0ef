package page

// Decoded is a body as it is scanned.
func Decoded(contentType string, body []byte) []byte {
	text, _ := decode(contentType, body)
	return text
}
