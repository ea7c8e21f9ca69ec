package main

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"

	"github.com/openai/openai-go/v3"
)

func embed(question question, list json.RawMessage, line *answer) error {
	input, err := inputOf(list, question.Single)
	if err != nil {
		return err
	}
	client := clientFor(question)
	parameters := openai.EmbeddingNewParams{
		Model: question.Model,
		Input: input,
	}
	if question.Dimensions != 0 {
		parameters.Dimensions = openai.Int(question.Dimensions)
	}
	response, err := client.Embeddings.New(context.Background(), parameters)
	if err != nil {
		return err
	}
	for _, item := range response.Data {
		line.Vectors = append(line.Vectors, base64Of(item.Embedding))
	}
	line.Tokens = &response.Usage.PromptTokens
	return nil
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
