package openapitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/httpstatus"
)

// Exchange is a request with its answer.
type Exchange struct {
	Request *http.Request // its Body is not read
	// Sent is the body of the request; it matters only where comparesRequests says so.
	Sent   []byte
	Status int
	Header http.Header
	Body   []byte
}

// comparesRequests says whether requests to the path are compared with the
// document too. Those to the receivers are not: they are compressed, cut or in
// other protocols, and the receivers take more than the document promises.
func comparesRequests(path string) bool {
	return strings.HasPrefix(path, "/api/v1/admin/") || strings.HasPrefix(path, "/api/v1/sign-in/")
}

// Check compares an exchange with the document. The error says what differs.
func (c *Contract) Check(x Exchange) error {
	path := x.Request.URL.Path
	op := c.find(x.Request.Method, path)
	if op == nil && x.Status != http.StatusNotFound {
		op = c.find(x.Request.Method, otherSlash(path))
	}
	if op == nil {
		return c.checkUnknown(x)
	}
	if err := c.checkAnswer(op, x); err != nil {
		return fmt.Errorf("answer %d: %w", x.Status, err)
	}
	if x.Status < 300 && comparesRequests(path) {
		if err := c.checkRequest(op, x); err != nil {
			return fmt.Errorf("the request was taken and the document does not allow it: %w", err)
		}
	}
	return nil
}

// otherSlash adds or removes the last slash of the path: the receivers take both.
func otherSlash(path string) string {
	if bare, slashed := strings.CutSuffix(path, "/"); slashed {
		return bare
	}
	return path + "/"
}

// checkUnknown checks the answer to a request that the document does not have.
// OPTIONS is for browsers and is in no document.
func (c *Contract) checkUnknown(x Exchange) error {
	var response string
	switch {
	case x.Request.Method == http.MethodOptions && x.Status < 300:
		return nil
	case x.Status == http.StatusNotFound:
		response = "NotFound"
	case x.Status == http.StatusMethodNotAllowed:
		response = "MethodNotAllowed"
	default:
		return fmt.Errorf("answer %d: the document has no such operation", x.Status)
	}
	ref := c.Spec.Components.Responses[response]
	return c.checkResponse(at("components", "responses", response), ref.Value, x)
}

func (c *Contract) checkAnswer(op *operation, x Exchange) error {
	status := strconv.Itoa(x.Status)
	ref := op.Responses.Value(status)
	if ref == nil {
		return errors.New("the document does not have this status")
	}
	pointer := at("paths", op.path, strings.ToLower(op.method), "responses", status)
	if ref.Ref != "" {
		pointer = ref.Ref
	}
	if err := c.checkResponse(pointer, ref.Value, x); err != nil {
		return err
	}
	return checkCode(op, x)
}

// checkResponse compares headers, content type and body with the response at a
// pointer of the document.
func (c *Contract) checkResponse(pointer string, response *openapi3.Response, x Exchange) error {
	for _, name := range slices.Sorted(maps.Keys(response.Headers)) {
		if h := response.Headers[name].Value; h.Required && x.Header.Get(name) == "" {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	if len(response.Content) == 0 {
		if len(x.Body) > 0 {
			return errors.New("it has a body and the document says that there is none")
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(contentType(x))
	if err != nil {
		return fmt.Errorf("the content type %q cannot be read: %w", contentType(x), err)
	}
	media, known := response.Content[kind]
	switch {
	case !known:
		return fmt.Errorf("the document does not have the content type %s", kind)
	case media.Schema == nil || x.Request.Method == http.MethodHead:
		return nil
	}
	return c.validate(pointer+at("content", kind, "schema")[1:], x.Body)
}

// contentType is the type that a browser would assume for the answer.
func contentType(x Exchange) string {
	if said := x.Header.Get("Content-Type"); said != "" {
		return said
	}
	return http.DetectContentType(x.Body)
}

// checkCode checks that the code of an error is one of the operation's.
func checkCode(op *operation, x Exchange) error {
	var envelope struct {
		Error struct{ Code errata.Kind }
	}
	if json.Unmarshal(x.Body, &envelope) != nil || envelope.Error.Code == "" {
		return nil //nolint:nilerr // not in our form, which the schema allows
	}
	code := envelope.Error.Code
	if httpstatus.Of(code) != x.Status {
		return fmt.Errorf("the code %s belongs to the status %d", code, httpstatus.Of(code))
	}
	if !slices.Contains(Codes(op.Operation), code) {
		return fmt.Errorf("the document does not have the code %s", code)
	}
	return nil
}

// Codes are the codes that an operation may answer with.
func Codes(op *openapi3.Operation) []errata.Kind {
	var codes []errata.Kind
	list, _ := op.Extensions["x-errata-codes"].([]any)
	for _, item := range list {
		if code, isText := item.(string); isText {
			codes = append(codes, errata.Kind(code))
		}
	}
	return codes
}

// checkRequest compares parameters and body with the document.
func (c *Contract) checkRequest(op *operation, x Exchange) error {
	input := &openapi3filter.RequestValidationInput{
		Request: x.Request, PathParams: op.params, QueryParams: said(x.Request.URL.Query()),
		Route: &routers.Route{Spec: c.Spec, Path: op.path, Method: op.method, Operation: op.Operation},
	}
	for _, parameter := range op.Parameters {
		if err := openapi3filter.ValidateParameter(x.Request.Context(), input, parameter.Value); err != nil {
			return err
		}
	}
	body := op.RequestBody
	switch {
	case body == nil:
		return nil
	case len(x.Sent) == 0 && body.Value.Required:
		return errors.New("it has no body")
	case len(x.Sent) == 0:
		return nil
	}
	pointer := at("paths", op.path, strings.ToLower(op.method), "requestBody")
	if body.Ref != "" {
		pointer = body.Ref
	}
	return c.validate(pointer+at("content", "application/json", "schema")[1:], x.Sent)
}

// said removes blank parameters, which count as absent, and makes the others
// lower case like the document, because the API takes any case. name[] is name.
func said(query url.Values) url.Values {
	kept := url.Values{}
	for name, values := range query {
		for _, value := range values {
			if strings.TrimSpace(value) != "" {
				kept.Add(strings.TrimSuffix(name, "[]"), strings.ToLower(value))
			}
		}
	}
	return kept
}
