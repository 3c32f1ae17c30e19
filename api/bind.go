package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"

	errata "github.com/errata-log/errata"
)

// maxBody bounds the body of an API request. The longest honest one, 1,000
// signatures to delete, has 35 KB.
const maxBody = 1 << 20

// bind reads the body, one JSON object, into dst. No body is the empty object;
// fields that dst does not have are ignored. Errors: unsupported_media_type,
// body_too_large, invalid_body, naming the field.
func (c *call) bind(dst any) error {
	body, err := c.readBody()
	if err != nil || len(body) == 0 {
		return err
	}
	if media := c.GetHeader("Content-Type"); media != "" {
		if kind, _, err := mime.ParseMediaType(media); err != nil || kind != "application/json" {
			return errata.Errorf(errata.KindUnsupportedMediaType, "Send the body as Content-Type: application/json.")
		}
	}
	if coding := c.GetHeader("Content-Encoding"); coding != "" && coding != "identity" {
		return errata.Errorf(errata.KindUnsupportedMediaType, "Send the body without Content-Encoding.")
	}
	return decode(body, dst)
}

// readBody reads the body whole. Errors: body_too_large, invalid_body.
func (c *call) readBody() ([]byte, error) { return c.readUpTo(maxBody) }

// readUpTo is readBody for a body of at most so many bytes.
func (c *call) readUpTo(limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, limit))
	if err == nil {
		return body, nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, errata.Errorf(errata.KindBodyTooLarge, "A request body has at most %d bytes.", limit)
	}
	return nil, errata.Errorf(errata.KindInvalidBody, "The request body did not arrive whole.").Because(err)
}

// decode reads one JSON object and says in words what is wrong with it. The
// parser's own text is not shown: it can repeat the body.
func decode(body []byte, dst any) error {
	err := json.Unmarshal(body, dst)
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
		if string(bytes.TrimSpace(body)) == "null" {
			return errata.Errorf(errata.KindInvalidBody, "The body must be a JSON object.")
		}
		return nil
	case errors.As(err, &syntax):
		return errata.Errorf(errata.KindInvalidBody, "The body is not JSON: it breaks off or goes wrong at byte %d.", syntax.Offset)
	case errors.As(err, &mismatch) && mismatch.Field != "":
		found, _, _ := strings.Cut(mismatch.Value, " ") // "number 1.5" names the value too
		e := errata.Errorf(errata.KindInvalidBody, "The field %s holds a JSON %s where %s belongs.", mismatch.Field, found, jsonName(mismatch.Type))
		e.Details = map[string]any{"field": mismatch.Field}
		return e
	case errors.As(err, &mismatch):
		return errata.Errorf(errata.KindInvalidBody, "The body must be a JSON object.")
	default:
		return errata.Errorf(errata.KindInvalidBody, "The body cannot be read.").Because(err)
	}
}

// jsonName is what a Go type is called in JSON.
func jsonName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return jsonName(t.Elem())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number, not negative"
	default:
		return "a whole number"
	}
}
