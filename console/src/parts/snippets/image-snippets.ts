/** How each SDK asks for pictures. */
import { KEY, type Maker, type Sdk } from './snippet.ts'

export const IMAGES: Partial<Record<Sdk, Maker>> & { readonly curl: Maker } = {
  curl: ({ model, baseUrl }) => `curl ${baseUrl}/images/generations \\
  -H "Authorization: Bearer ${KEY}" \\
  -H 'Content-Type: application/json' \\
  -d '{"model": "${model}", "prompt": "a lighthouse in the fog",
       "response_format": "url"}'
`,
  python: ({ model, baseUrl }) => `import base64
from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}",
    api_key="${KEY}",  # a key of your project
)
answer = client.images.generate(
    model="${model}",
    prompt="a lighthouse in the fog",
    response_format="b64_json",
)
with open("lighthouse.png", "wb") as file:
    file.write(base64.b64decode(answer.data[0].b64_json))
`,
  node: ({ model, baseUrl }) => `import { writeFileSync } from 'node:fs'
import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${baseUrl}',
  apiKey: '${KEY}', // a key of your project
})
const { data } = await client.images.generate({
  model: '${model}',
  prompt: 'a lighthouse in the fog',
  response_format: 'b64_json',
})
writeFileSync('lighthouse.png', Buffer.from(data[0].b64_json, 'base64'))
console.log('lighthouse.png')
`,
  go: ({ model, baseUrl }) => `package main

import (
	"context"
	"fmt"
	"log"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func main() {
	client := openai.NewClient(
		option.WithBaseURL("${baseUrl}"),
		option.WithAPIKey("${KEY}"), // a key of your project
	)
	answer, err := client.Images.Generate(context.Background(), openai.ImageGenerateParams{
		Model:          "${model}",
		Prompt:         "a lighthouse in the fog",
		ResponseFormat: openai.ImageGenerateParamsResponseFormatURL,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Data[0].URL)
}
`,
  java: ({ model, baseUrl }) => `import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.images.ImageGenerateParams;

public class Main {
    public static void main(String[] arguments) {
        var client = OpenAIOkHttpClient.builder()
                .baseUrl("${baseUrl}")
                .apiKey("${KEY}") // a key of your project
                .build();
        var answer = client.images().generate(ImageGenerateParams.builder()
                .model("${model}")
                .prompt("a lighthouse in the fog")
                .responseFormat(ImageGenerateParams.ResponseFormat.URL)
                .build());
        System.out.println(answer.data().orElseThrow().get(0).url().orElseThrow());
    }
}
`,
  dotnet: ({ model, baseUrl }) => `using OpenAI;
using OpenAI.Images;
using System.ClientModel;

var options = new OpenAIClientOptions { Endpoint = new Uri("${baseUrl}") };
var client = new ImageClient("${model}",
    new ApiKeyCredential("${KEY}"), options); // a key of your project
var answer = client.GenerateImage("a lighthouse in the fog", new ImageGenerationOptions
{
    ResponseFormat = GeneratedImageFormat.Bytes,
}).Value;
File.WriteAllBytes("lighthouse.png", answer.ImageBytes.ToArray());
`,
  'ai-sdk': ({ model, baseUrl }) => `import { writeFileSync } from 'node:fs'
import { createOpenAI } from '@ai-sdk/openai'
import { generateImage } from 'ai'

const torana = createOpenAI({
  baseURL: '${baseUrl}',
  apiKey: '${KEY}', // a key of your project
})
const { image } = await generateImage({
  model: torana.image('${model}'),
  prompt: 'a lighthouse in the fog',
})
writeFileSync('lighthouse.png', image.uint8Array)
console.log('lighthouse.png')
`,
}
