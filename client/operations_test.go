package client_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/google/uuid"

	"dateline/client"
)

// recorder answers every request with an empty object.
type recorder struct {
	request *http.Request
	body    []byte
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.request = request
	r.body, _ = io.ReadAll(request.Body)
	status := http.StatusOK
	if path.Base(request.URL.Path) == "events" {
		status = http.StatusForbidden // else streams are opened again
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// Every method of the client is called, with two values in every list.
func TestClient_CallsDescribedOperations(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromFile("../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc.Servers = openapi3.Servers{{URL: "https://dateline.example.com"}}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	streams := map[string]string{"FollowPost": "PostEvents", "FollowEvents": "WorkspaceEvents"}
	all := reflect.TypeFor[*client.Client]()
	if all.NumMethod() < 30 {
		t.Fatalf("%d methods, want the operations of the client", all.NumMethod())
	}
	for method := range all.Methods() {
		t.Run(method.Name, func(t *testing.T) {
			t.Parallel()
			var sent recorder
			c, err := client.New("https://dateline.example.com/", "dl_token",
				client.Options{HTTP: &http.Client{Transport: &sent}})
			if err != nil {
				t.Fatal(err)
			}
			args := []reflect.Value{reflect.ValueOf(c), reflect.ValueOf(t.Context())}
			for i := len(args); i < method.Type.NumIn(); i++ {
				if in := method.Type.In(i); !method.Type.IsVariadic() || i < method.Type.NumIn()-1 {
					args = append(args, filled(in))
				}
			}
			results := method.Func.Call(args)
			if sent.request == nil {
				t.Fatalf("nothing was sent: %v", results[len(results)-1])
			}
			route, _, err := router.FindRoute(sent.request)
			if err != nil {
				t.Fatalf("%s %s: %v", sent.request.Method, sent.request.URL, err)
			}
			id, isStream := streams[method.Name]
			if !isStream {
				id = method.Name
			}
			if got := route.Operation.OperationID; !strings.EqualFold(got, id) {
				t.Errorf("%s %s is operation %s, want %s", sent.request.Method, sent.request.URL, got, id)
			}
			if got := sent.request.Header.Get("Authorization"); got != "Bearer dl_token" {
				t.Errorf("Authorization: %q", got)
			}
			parametersMatch(t, slices.Concat(route.PathItem.Parameters, route.Operation.Parameters), sent.request)
			if got, want := len(sent.body) > 0, route.Operation.RequestBody != nil; got != want {
				t.Errorf("a body was sent: %v, described: %v", got, want)
			}
			if !isStream {
				valueMatches(t, route.Operation, method.Type.Out(0))
			}
		})
	}
}

// parametersMatch checks that all parameters were sent, and lists as the description says.
func parametersMatch(t *testing.T, described openapi3.Parameters, sent *http.Request) {
	t.Helper()
	query, err := url.ParseQuery(sent.URL.RawQuery)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, p := range described {
		name := p.Value.Name
		switch p.Value.In {
		case openapi3.ParameterInHeader:
			// Streams send Last-Event-ID when they are opened again.
			if name != "Last-Event-ID" && sent.Header.Get(name) == "" {
				t.Errorf("header %s was not sent", name)
			}
		case openapi3.ParameterInQuery:
			known[name] = true
			if !p.Value.Schema.Value.Type.Is("array") || query[name] == nil {
				continue
			}
			method, err := p.Value.SerializationMethod()
			if err != nil {
				t.Fatal(err)
			}
			if got := len(query[name]) == 2; got != method.Explode {
				t.Errorf("%s was sent as %q; described with explode: %v", name, query[name], method.Explode)
			}
		}
	}
	for name := range query {
		if !known[name] {
			t.Errorf("the description has no parameter %s", name)
		}
	}
}

// valueMatches checks that a response is decoded as the schema that the description names.
func valueMatches(t *testing.T, op *openapi3.Operation, response reflect.Type) {
	t.Helper()
	value, _ := response.Elem().FieldByName("Value")
	for _, status := range []int{http.StatusOK, http.StatusCreated} {
		r := op.Responses.Status(status)
		if r == nil {
			continue
		}
		schema := r.Value.Content.Get("application/json").Schema.Ref
		if got, want := value.Type.Elem().Name(), path.Base(schema); schema != "" && !strings.EqualFold(got, want) {
			t.Errorf("the response is decoded as %s, want %s", got, want)
		}
		return
	}
	t.Error("the description has no successful response")
}

// filled returns a value without nil pointers and with two values in lists.
func filled(of reflect.Type) reflect.Value {
	v := reflect.New(of).Elem()
	switch {
	case of == reflect.TypeFor[uuid.UUID]():
		v.Set(reflect.ValueOf(uuid.New()))
	case of == reflect.TypeFor[client.Form]():
		v.Set(reflect.ValueOf(client.Form{ContentType: "multipart/form-data; boundary=b", Content: []byte("--b--")}))
	case of.Kind() == reflect.String:
		v.SetString("x")
	case of.Kind() == reflect.Func:
		v.Set(reflect.MakeFunc(of, func([]reflect.Value) []reflect.Value {
			return []reflect.Value{reflect.Zero(of.Out(0))}
		}))
	case of.Kind() == reflect.Slice:
		v.Set(reflect.Append(v, filled(of.Elem()), filled(of.Elem())))
	case of.Kind() == reflect.Pointer:
		v.Set(reflect.New(of.Elem()))
		v.Elem().Set(filled(of.Elem()))
	case of.Kind() == reflect.Struct && strings.HasSuffix(of.Name(), "Params"):
		for i := range of.NumField() {
			v.Field(i).Set(filled(of.Field(i).Type))
		}
	}
	return v
}

func TestClient_ReportsRefusalsAndForeignResponses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body, want string
		status           int
	}{
		{
			"a problem document", `{"code":"validation_failed","title":"Invalid","detail":"The post is invalid.",
			"errors":[{"field":"content","code":"required","message":"is required"}]}`,
			"The post is invalid.\n  content: is required (422 validation_failed)", 422,
		},
		{"a proxy's page", "<html>", "Bad Gateway (502 unknown)", 502},
		{"a page of another server", "<html>", "check the address", 200},
		{"a value of another type", `[]`, "check the address", 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			answer := func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: c.status, Body: io.NopCloser(strings.NewReader(c.body))}, nil
			}
			api, err := client.New("https://dateline.example.com", "",
				client.Options{HTTP: &http.Client{Transport: transport(answer)}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = api.GetMe(context.Background())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			want := c.status
			if want < 400 {
				want = 0
			}
			if got := client.StatusOf(err); got != want {
				t.Errorf("status %d, want %d", got, want)
			}
		})
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }
