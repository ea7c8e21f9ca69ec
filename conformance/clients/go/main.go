// openai-go: reads {lists, cases} from standard input, answers each case with one JSON line.
package main

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

type work struct {
	Lists map[string]json.RawMessage `json:"lists"`
	Cases []question                 `json:"cases"`
}

type question struct {
	Name       string `json:"name"`
	BaseURL    string `json:"baseUrl"`
	APIKey     string `json:"apiKey"`
	Model      string `json:"model"`
	Inputs     string `json:"inputs"`
	Single     bool   `json:"single"`
	Dimensions int64  `json:"dimensions"`
	Retries    bool   `json:"retries"`
}

type answer struct {
	Case    string   `json:"case"`
	OK      bool     `json:"ok"`
	Vectors []string `json:"vectors,omitempty"`
	Tokens  *int64   `json:"tokens,omitempty"`
	Error   *failure `json:"error,omitempty"`
}

type failure struct {
	Class      string `json:"class"`
	Status     int    `json:"status,omitempty"`
	Code       string `json:"code,omitempty"`
	Message    string `json:"message"`
	RequestID  string `json:"requestId,omitempty"`
	RetryAfter string `json:"retryAfter,omitempty"`
}

func main() {
	var asked work
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lines := json.NewEncoder(os.Stdout)
	for _, question := range asked.Cases {
		line := answer{Case: question.Name}
		vectors, tokens, err := embed(question, asked.Lists[question.Inputs])
		if err != nil {
			line.Error = describe(err)
		} else {
			line.OK, line.Vectors, line.Tokens = true, vectors, &tokens
		}
		if err := lines.Encode(line); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func embed(question question, list json.RawMessage) ([]string, int64, error) {
	input, err := inputOf(list, question.Single)
	if err != nil {
		return nil, 0, err
	}
	options := []option.RequestOption{option.WithBaseURL(question.BaseURL), option.WithAPIKey(question.APIKey)}
	if !question.Retries {
		options = append(options, option.WithMaxRetries(0))
	}
	client := openai.NewClient(options...)
	parameters := openai.EmbeddingNewParams{
		Model: question.Model,
		Input: input,
	}
	if question.Dimensions != 0 {
		parameters.Dimensions = openai.Int(question.Dimensions)
	}
	response, err := client.Embeddings.New(context.Background(), parameters)
	if err != nil {
		return nil, 0, err
	}
	vectors := make([]string, len(response.Data))
	for position, item := range response.Data {
		vectors[position] = base64Of(item.Embedding)
	}
	return vectors, response.Usage.PromptTokens, nil
}

// A list holds texts or token arrays.
func inputOf(list json.RawMessage, single bool) (input openai.EmbeddingNewParamsInputUnion, err error) {
	var texts []string
	if json.Unmarshal(list, &texts) == nil {
		if single {
			return openai.EmbeddingNewParamsInputUnion{OfString: openai.String(texts[0])}, nil
		}
		return openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts}, nil
	}
	var tokens [][]int64
	if err := json.Unmarshal(list, &tokens); err != nil {
		return input, err
	}
	if single {
		return openai.EmbeddingNewParamsInputUnion{OfArrayOfTokens: tokens[0]}, nil
	}
	return openai.EmbeddingNewParamsInputUnion{OfArrayOfTokenArrays: tokens}, nil
}

// Little-endian float32. A value that is no float32 is rounded, so it shows only if the client changed it.
func base64Of(values []float64) string {
	bytes := make([]byte, 0, len(values)*4)
	for _, value := range values {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(float32(value)))
	}
	return base64.StdEncoding.EncodeToString(bytes)
}

// The library has one class of API errors for all statuses.
func describe(err error) *failure {
	var apiError *openai.Error
	if !errors.As(err, &apiError) {
		return &failure{Class: fmt.Sprintf("%T", err), Message: err.Error()}
	}
	described := &failure{
		Class:   "openai.Error",
		Status:  apiError.StatusCode,
		Code:    apiError.Code,
		Message: apiError.Message,
	}
	if apiError.Response != nil {
		described.RequestID = apiError.Response.Header.Get("x-request-id")
		described.RetryAfter = apiError.Response.Header.Get("retry-after")
	}
	return described
}
