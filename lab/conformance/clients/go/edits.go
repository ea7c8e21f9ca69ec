package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"

	"github.com/openai/openai-go/v3"
)

type edit struct {
	Images []givenFile `json:"images"`
	Mask   *givenFile  `json:"mask"`
	GiveAs string      `json:"giveAs"`
	JSON   bool        `json:"json"`
}

type givenFile struct {
	File string `json:"file"`
	Name string `json:"name"`
	Type string `json:"type"`
}

func change(question question, line *answer) error {
	client := clientFor(question)
	if question.Edit.JSON {
		return post(client, question, line)
	}
	parameters, err := parametersOf(question)
	if err != nil {
		return err
	}
	if question.Stream {
		return changeStreaming(client, parameters, question, line)
	}
	response, err := client.Images.Edit(context.Background(), parameters, optionsOf(question)...)
	if err != nil {
		return err
	}
	return saveResponse(response, question.SaveAs, line)
}

func changeStreaming(
	client openai.Client, parameters openai.ImageEditParams, question question, line *answer,
) error {
	stream := client.Images.EditStreaming(context.Background(), parameters, optionsOf(question)...)
	var pictures, previews []event
	for stream.Next() {
		switch current := stream.Current().AsAny().(type) {
		case openai.ImageEditCompletedEvent:
			pictures = append(pictures, event{base64Text: current.B64JSON})
		case openai.ImageEditPartialImageEvent:
			previews = append(previews, event{current.B64JSON, current.PartialImageIndex})
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return saveEvents(pictures, previews, question.SaveAs, line)
}

func parametersOf(question question) (parameters openai.ImageEditParams, err error) {
	parameters = openai.ImageEditParams{
		Model:          question.Model,
		Prompt:         question.Prompt,
		Size:           openai.ImageEditParamsSize(question.Size),
		ResponseFormat: openai.ImageEditParamsResponseFormat(question.ResponseFormat),
		OutputFormat:   openai.ImageEditParamsOutputFormat(question.OutputFormat),
	}
	if question.N != 0 {
		parameters.N = openai.Int(question.N)
	}
	if question.PartialImages != 0 {
		parameters.PartialImages = openai.Int(question.PartialImages)
	}
	asked := question.Edit
	var files []io.Reader
	for _, image := range asked.Images {
		file, err := readerOf(image, asked.GiveAs)
		if err != nil {
			return parameters, err
		}
		files = append(files, file)
	}
	// One picture is not wrapped by most users.
	if len(files) == 1 {
		parameters.Image.OfFile = files[0]
	} else {
		parameters.Image.OfFileArray = files
	}
	if asked.Mask != nil {
		parameters.Mask, err = readerOf(*asked.Mask, asked.GiveAs)
	}
	return parameters, err
}

func readerOf(given givenFile, way string) (io.Reader, error) {
	if way == "stream" {
		return os.Open(given.File)
	}
	content, err := os.ReadFile(given.File)
	if err != nil {
		return nil, err
	}
	switch way {
	case "bytes":
		return bytes.NewReader(content), nil
	case "named":
		return openai.File(bytes.NewReader(content), given.Name, given.Type), nil
	case "untyped":
		return openai.File(bytes.NewReader(content), given.Name, ""), nil
	case "unnamed":
		return openai.File(bytes.NewReader(content), "", given.Type), nil
	}
	return nil, fmt.Errorf("openai-go can't be handed a file as %s", way)
}

type reference struct {
	ImageURL string `json:"image_url"`
}

func post(client openai.Client, question question, line *answer) error {
	body := map[string]any{"model": question.Model, "prompt": question.Prompt}
	if question.N != 0 {
		body["n"] = question.N
	}
	if question.OutputFormat != "" {
		body["output_format"] = question.OutputFormat
	}
	var images []reference
	for _, image := range question.Edit.Images {
		referred, err := referenceTo(image)
		if err != nil {
			return err
		}
		images = append(images, referred)
	}
	body["images"] = images
	if question.Edit.Mask != nil {
		mask, err := referenceTo(*question.Edit.Mask)
		if err != nil {
			return err
		}
		body["mask"] = mask
	}
	var response *openai.ImagesResponse
	if err := client.Post(context.Background(), "images/edits", body, &response, optionsOf(question)...); err != nil {
		return err
	}
	return saveResponse(response, question.SaveAs, line)
}

func referenceTo(given givenFile) (reference, error) {
	content, err := os.ReadFile(given.File)
	encoded := base64.StdEncoding.EncodeToString(content)
	return reference{fmt.Sprintf("data:%s;base64,%s", given.Type, encoded)}, err
}
