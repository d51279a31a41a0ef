package metadata

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
)

// json asks for an address and reads the JSON that comes.
func (s *service) json(ctx context.Context, addr string, into any) error {
	return s.get(ctx, addr, s.decoding(addr, into))
}

// post sends JSON and reads the JSON that comes.
func (s *service) post(ctx context.Context, addr string, what, into any) error {
	sent, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return s.do(ctx, http.MethodPost, addr, sent, s.decoding(addr, into))
}

func (s *service) decoding(addr string, into any) func(body []byte) error {
	return s.reading(addr, func(body []byte) error { return decodeJSON(body, into) })
}

// xml asks for an address and reads the XML that comes.
func (s *service) xml(ctx context.Context, addr string, into any) error {
	return s.markup(ctx, addr, maxElements, func(body []byte) error {
		return newDecoder(bytes.NewReader(body), nil).Decode(into)
	})
}

// markup asks for an address and has the XML that comes read, of so many elements at most.
func (s *service) markup(ctx context.Context, addr string, most int, read func(body []byte) error) error {
	return s.get(ctx, addr, s.reading(addr, func(body []byte) error {
		if err := boundXML(body, most); err != nil {
			return err
		}
		return read(body)
	}))
}

// reading names the service and the address in the errors of a reader.
func (s *service) reading(addr string, read func(body []byte) error) func(body []byte) error {
	return func(body []byte) error {
		if err := read(body); err != nil {
			return ErrBadAnswer{s.name, s.secrets.hide(addr), err}
		}
		return nil
	}
}

// decodeJSON is json.Unmarshal for bodies of services. It counts the members of lists first:
// one of two bytes may take a thousand in memory.
func decodeJSON(body []byte, into any) error {
	const object = -1
	var open []int // the members of each list that is open, or object
	total := 0
	for i := 0; i < len(body) && len(open) <= maxDepth; i++ { // Unmarshal refuses what is deeper
		last := len(open) - 1
		switch body[i] {
		case '"':
			for i++; i < len(body) && body[i] != '"'; i++ {
				if body[i] == '\\' {
					i++
				}
			}
		case '{':
			open = append(open, object)
		case '[':
			open, total = append(open, 1), total+1
		case '}', ']':
			open = open[:max(last, 0)]
		case ',':
			if last < 0 || open[last] == object {
				continue
			}
			open[last], total = open[last]+1, total+1
			if open[last] > maxAuthors {
				return ErrTooMuch{"members of one list", maxAuthors}
			}
		}
		if total > maxMembers {
			return ErrTooMuch{"members of lists", maxMembers}
		}
	}
	return json.Unmarshal(body, into)
}

// boundXML refuses a body that would take much more memory than its bytes. It counts each
// sign that may begin an element or name an attribute, also in text. A tag ends at the last
// ">" before the next "<": in a quoted value stands no "<", but maybe ">".
func boundXML(body []byte, most int) error {
	signs := bytes.Count(body, []byte("<")) - bytes.Count(body, []byte("</")) + bytes.Count(body, []byte("="))
	if signs > most {
		return ErrTooMuch{"elements and attributes", most}
	}
	for part := range bytes.SplitSeq(body, []byte("<")) {
		if len(part) > maxTag && (bytes.LastIndexByte(part, '>') > maxTag || !bytes.Contains(part, []byte(">"))) {
			return ErrTooMuch{"bytes in a tag", maxTag}
		}
	}
	return nil
}
