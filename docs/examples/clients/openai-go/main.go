package main

import (
	"context"
	"fmt"
	"log"

	"github.com/openai/openai-go/v3"
)

func main() {
	client := openai.NewClient() // reads OPENAI_BASE_URL and OPENAI_API_KEY

	answer, err := client.Embeddings.New(context.Background(), openai.EmbeddingNewParams{
		Model: "demo-embed",
		Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"cat", "kitten", "car"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(answer.Data), "vectors of", len(answer.Data[0].Embedding))
}
