package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

type picture struct {
	File   string `json:"file"`
	Sha256 string `json:"sha256"`
	URL    string `json:"url,omitempty"`
}

func generate(question question, line *answer) (err error) {
	client := clientFor(question)
	parameters := openai.ImageGenerateParams{
		Model:          question.Model,
		Prompt:         question.Prompt,
		Size:           openai.ImageGenerateParamsSize(question.Size),
		ResponseFormat: openai.ImageGenerateParamsResponseFormat(question.ResponseFormat),
		OutputFormat:   openai.ImageGenerateParamsOutputFormat(question.OutputFormat),
	}
	if question.N != 0 {
		parameters.N = openai.Int(question.N)
	}
	if question.PartialImages != 0 {
		parameters.PartialImages = openai.Int(question.PartialImages)
	}
	options := optionsOf(question)
	if question.Stream {
		return streamed(client, parameters, options, question.SaveAs, line)
	}
	response, err := client.Images.Generate(context.Background(), parameters, options...)
	if err != nil {
		return err
	}
	return saveResponse(response, question.SaveAs, line)
}

func optionsOf(question question) (options []option.RequestOption) {
	if question.IdempotencyKey != "" {
		options = append(options, option.WithHeader("Idempotency-Key", question.IdempotencyKey))
	}
	return options
}

func saveResponse(response *openai.ImagesResponse, saveAs string, line *answer) error {
	for index, item := range response.Data {
		file := fmt.Sprintf("%s-picture-%d", saveAs, index)
		saved, err := save(item.B64JSON, item.URL, file)
		if err != nil {
			return err
		}
		line.Pictures = append(line.Pictures, saved)
	}
	return nil
}

func streamed(
	client openai.Client,
	parameters openai.ImageGenerateParams,
	options []option.RequestOption,
	saveAs string,
	line *answer,
) error {
	stream := client.Images.GenerateStreaming(context.Background(), parameters, options...)
	var pictures, previews []event
	for stream.Next() {
		switch current := stream.Current().AsAny().(type) {
		case openai.ImageGenCompletedEvent:
			pictures = append(pictures, event{base64Text: current.B64JSON})
		case openai.ImageGenPartialImageEvent:
			previews = append(previews, event{current.B64JSON, current.PartialImageIndex})
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return saveEvents(pictures, previews, saveAs, line)
}

type event struct {
	base64Text string
	place      int64
}

func saveEvents(pictures []event, previews []event, saveAs string, line *answer) (err error) {
	slices.SortStableFunc(previews, func(a, b event) int { return int(a.place - b.place) })
	if line.Pictures, err = saveAll(pictures, saveAs+"-picture"); err != nil {
		return err
	}
	line.Previews, err = saveAll(previews, saveAs+"-preview")
	return err
}

func saveAll(events []event, saveAs string) (all []picture, err error) {
	for index, event := range events {
		saved, err := save(event.base64Text, "", fmt.Sprintf("%s-%d", saveAs, index))
		if err != nil {
			return nil, err
		}
		all = append(all, saved)
	}
	return all, nil
}

// Links are fetched as a browser would, without a key.
func save(base64Text string, url string, file string) (saved picture, err error) {
	var content []byte
	if url == "" {
		content, err = base64.StdEncoding.DecodeString(base64Text)
	} else {
		content, err = fetched(url)
	}
	if err != nil {
		return saved, err
	}
	sum := sha256.Sum256(content)
	return picture{File: file, Sha256: hex.EncodeToString(sum[:]), URL: url}, os.WriteFile(file, content, 0o644)
}

func fetched(url string) ([]byte, error) {
	response, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", url, response.Status)
	}
	return io.ReadAll(response.Body)
}
