// Lets a test drive the AWS SDKs for Go: one request per line of JSON on standard input, one answer per line on standard
// output, in the format that boto3-bridge.py describes. Its argument is the wire form of SQS: `query` uses version 1 of the
// SDK, in the last release before it switched to JSON, and `json` uses version 2.
//
// No action is named here: methods are found by the action's name, and inputs and outputs are converted by reflection.
// Requests run in parallel, so that a long poll does not block the others. Ends when standard input does.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"

	aws2 "github.com/aws/aws-sdk-go-v2/aws"
	sns2 "github.com/aws/aws-sdk-go-v2/service/sns"
	sqs2 "github.com/aws/aws-sdk-go-v2/service/sqs"
	aws1 "github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/aws/session"
	sns1 "github.com/aws/aws-sdk-go/service/sns"
	sqs1 "github.com/aws/aws-sdk-go/service/sqs"
)

const inParallelMax = 8

type request struct {
	ID       int             `json:"id"`
	Endpoint string          `json:"endpoint"`
	Service  string          `json:"service"`
	Action   string          `json:"action"`
	Input    json.RawMessage `json:"input"`
}

type answer struct {
	ID     int      `json:"id"`
	Output any      `json:"output,omitempty"`
	Error  *failure `json:"error,omitempty"`
}

type failure struct {
	Code    string `json:"code"`
	Status  int    `json:"status,omitempty"`
	Message string `json:"message"`
}

// An SDK's clients by service, and the suffix of its methods that take a context. With it, the methods of both SDKs have the
// same form: context, input and options in, output and error out.
type sdk struct {
	open   func(endpoint string) map[string]any
	suffix string
}

var sdks = map[string]sdk{
	"query": {openVersion1, "WithContext"},
	"json":  {openVersion2, ""},
}

func openVersion1(endpoint string) map[string]any {
	config := aws1.NewConfig().WithEndpoint(endpoint).WithRegion(region()).WithMaxRetries(0)
	session := session.Must(session.NewSession(config))
	return map[string]any{"sqs": sqs1.New(session), "sns": sns1.New(session)}
}

// Put together by hand: the package that reads AWS's settings brings four more services along, which would have to be
// fetched and compiled.
func openVersion2(endpoint string) map[string]any {
	config := aws2.Config{
		BaseEndpoint: &endpoint,
		Region:       region(),
		Credentials:  aws2.CredentialsProviderFunc(credentials),
		Retryer:      func() aws2.Retryer { return aws2.NopRetryer{} },
	}
	return map[string]any{"sqs": sqs2.NewFromConfig(config), "sns": sns2.NewFromConfig(config)}
}

func region() string { return os.Getenv("AWS_DEFAULT_REGION") }

func credentials(context.Context) (aws2.Credentials, error) {
	return aws2.Credentials{
		AccessKeyID:     os.Getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
	}, nil
}

func main() {
	if len(os.Args) != 2 || sdks[os.Args[1]].open == nil {
		fmt.Fprintln(os.Stderr, "go-bridge takes one argument: query or json.")
		os.Exit(2)
	}
	bridge := bridge{sdk: sdks[os.Args[1]], opened: map[string]map[string]any{}}
	places := make(chan struct{}, inParallelMax)
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		go func() {
			places <- struct{}{}
			bridge.serve(line)
			<-places
		}()
	}
}

type bridge struct {
	sdk    sdk
	mutex  sync.Mutex
	opened map[string]map[string]any
}

func (b *bridge) serve(line []byte) {
	var asked request
	var output any
	err := json.Unmarshal(line, &asked)
	if err == nil {
		output, err = b.answer(asked)
	}
	told := answer{ID: asked.ID, Output: output}
	if err != nil {
		told.Error = failureOf(err)
	}
	text, err := json.Marshal(told)
	if err != nil {
		panic(err)
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	os.Stdout.Write(append(text, '\n'))
}

func (b *bridge) answer(asked request) (any, error) {
	service := asked.Service
	if service == "" {
		service = "sqs"
	}
	client := reflect.ValueOf(b.client(asked.Endpoint, service))
	if asked.Action == "" {
		return actions(client.Type(), b.sdk.suffix), nil
	}
	method := client.MethodByName(asked.Action + b.sdk.suffix)
	if !method.IsValid() {
		return nil, fmt.Errorf("this SDK has no %s", asked.Action)
	}
	input := reflect.New(method.Type().In(1).Elem())
	if err := read(asked.Input, input.Interface()); err != nil {
		return nil, err
	}
	results := method.Call([]reflect.Value{reflect.ValueOf(context.Background()), input})
	if err, isError := results[1].Interface().(error); isError {
		return nil, err
	}
	return shown(results[0]), nil
}

func (b *bridge) client(endpoint, service string) any {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.opened[endpoint] == nil {
		b.opened[endpoint] = b.sdk.open(endpoint)
	}
	return b.opened[endpoint][service]
}

func actions(client reflect.Type, suffix string) []string {
	found := []string{}
	for i := 0; i < client.NumMethod(); i++ {
		method := client.Method(i)
		// The client itself, context, input, options; what reads page after page takes a function too.
		if method.Type.NumIn() == 4 && strings.HasSuffix(method.Name, suffix) {
			found = append(found, strings.TrimSuffix(method.Name, suffix))
		}
	}
	return found
}

// Go's own JSON takes base64 for bytes, so what marks them as such is taken away. A member that the input does not have is
// an error: silently left out, it would make a test of something else.
func read(text json.RawMessage, input any) error {
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return err
	}
	plain, err := json.Marshal(withPlainBytes(tree))
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(plain))
	decoder.DisallowUnknownFields()
	return decoder.Decode(input)
}

func withPlainBytes(tree any) any {
	switch value := tree.(type) {
	case map[string]any:
		if base64, isBytes := value["$bytes"]; isBytes {
			return base64
		}
		for name, member := range value {
			value[name] = withPlainBytes(member)
		}
	case []any:
		for index, member := range value {
			value[index] = withPlainBytes(member)
		}
	}
	return tree
}

// The one member that AWS writes with a small letter, which Go would not export.
var namesOfAws = map[string]string{"ListDeadLetterSourceQueuesOutput.QueueUrls": "queueUrls"}

// What an SDK gives, as JSON has it: what is nil is left out, bytes are marked.
func shown(value reflect.Value) any {
	switch value.Kind() {
	case reflect.Pointer:
		return shown(value.Elem())
	case reflect.Struct:
		members := map[string]any{}
		for i := 0; i < value.NumField(); i++ {
			field := value.Type().Field(i)
			if !field.IsExported() || field.Name == "ResultMetadata" || isNil(value.Field(i)) {
				continue
			}
			name, isOther := namesOfAws[value.Type().Name()+"."+field.Name]
			if !isOther {
				name = field.Name
			}
			members[name] = shown(value.Field(i))
		}
		return members
	case reflect.Map:
		members := map[string]any{}
		for _, key := range value.MapKeys() {
			members[key.String()] = shown(value.MapIndex(key))
		}
		return members
	case reflect.Slice:
		if bytes, isBytes := value.Interface().([]byte); isBytes {
			return map[string]any{"$bytes": bytes}
		}
		list := []any{}
		for i := 0; i < value.Len(); i++ {
			list = append(list, shown(value.Index(i)))
		}
		return list
	}
	return value.Interface()
}

func isNil(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return value.IsNil()
	}
	return false
}

// Both SDKs say code, text and status, each by methods of its own.
func failureOf(err error) *failure {
	found := &failure{Code: fmt.Sprintf("%T", err), Message: err.Error()}
	var ofVersion1 interface {
		Code() string
		Message() string
		StatusCode() int
	}
	var ofVersion2 interface {
		ErrorCode() string
		ErrorMessage() string
	}
	var answered interface{ HTTPStatusCode() int }
	if errors.As(err, &ofVersion1) {
		found = &failure{ofVersion1.Code(), ofVersion1.StatusCode(), ofVersion1.Message()}
	} else if errors.As(err, &ofVersion2) && errors.As(err, &answered) {
		found = &failure{ofVersion2.ErrorCode(), answered.HTTPStatusCode(), ofVersion2.ErrorMessage()}
	}
	return found
}
