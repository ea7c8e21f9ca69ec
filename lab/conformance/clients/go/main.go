// openai-go: reads {cases, …} from standard input, answers each case with one JSON line. The argument `images` asks for
// pictures, `batches` uses files, batches and webhooks, none asks for vectors.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

type work struct {
	Lists map[string]json.RawMessage `json:"lists"`
	Cases []question                 `json:"cases"`
}

type question struct {
	Name    string `json:"name"`
	BaseURL string `json:"baseUrl"`
	APIKey  string `json:"apiKey"`
	Model   string `json:"model"`
	Retries bool   `json:"retries"`

	// For vectors.
	Inputs     string `json:"inputs"`
	Single     bool   `json:"single"`
	Dimensions int64  `json:"dimensions"`

	// For pictures.
	Prompt         string `json:"prompt"`
	N              int64  `json:"n"`
	Size           string `json:"size"`
	ResponseFormat string `json:"responseFormat"`
	OutputFormat   string `json:"outputFormat"`
	Stream         bool   `json:"stream"`
	PartialImages  int64  `json:"partialImages"`
	IdempotencyKey string `json:"idempotencyKey"`
	SaveAs         string `json:"saveAs"`
	Edit           *edit  `json:"edit"`

	batchQuestion
}

type answer struct {
	Case     string    `json:"case"`
	OK       bool      `json:"ok"`
	Vectors  []string  `json:"vectors,omitempty"`
	Tokens   *int64    `json:"tokens,omitempty"`
	Pictures []picture `json:"pictures,omitempty"`
	Previews []picture `json:"previews,omitempty"`
	Error    *failure  `json:"error,omitempty"`
	batchAnswer
}

type failure struct {
	Class       string `json:"class"`
	Status      int    `json:"status,omitempty"`
	Code        string `json:"code,omitempty"`
	Message     string `json:"message"`
	RequestID   string `json:"requestId,omitempty"`
	RetryAfter  string `json:"retryAfter,omitempty"`
	ShouldRetry string `json:"shouldRetry,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var asked work
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return err
	}
	forPictures := len(os.Args) > 1 && os.Args[1] == "images"
	forBatches := len(os.Args) > 1 && os.Args[1] == "batches"
	lines := json.NewEncoder(os.Stdout)
	for _, question := range asked.Cases {
		line := answer{Case: question.Name, OK: true}
		var err error
		if forPictures && question.Edit != nil {
			err = change(question, &line)
		} else if forPictures {
			err = generate(question, &line)
		} else if forBatches {
			err = useBatches(question, &line)
		} else {
			err = embed(question, asked.Lists[question.Inputs], &line)
		}
		if err != nil {
			line = answer{Case: question.Name, Error: describe(err)}
		}
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

func clientFor(question question) openai.Client {
	options := []option.RequestOption{option.WithBaseURL(question.BaseURL), option.WithAPIKey(question.APIKey)}
	if !question.Retries {
		options = append(options, option.WithMaxRetries(0))
	}
	return openai.NewClient(options...)
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
		described.ShouldRetry = apiError.Response.Header.Get("x-should-retry")
	}
	return described
}
