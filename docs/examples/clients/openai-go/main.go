package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func main() {
	client := openai.NewClient(
		option.WithBaseURL(os.Getenv("TORANA_BASE_URL")),
		option.WithAPIKey(os.Getenv("TORANA_KEY")),
	)

	answer, err := client.Embeddings.New(context.Background(), openai.EmbeddingNewParams{
		Model: "demo-embed",
		Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"cat", "kitten", "car"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(answer.Data), "vectors of", len(answer.Data[0].Embedding))
}
