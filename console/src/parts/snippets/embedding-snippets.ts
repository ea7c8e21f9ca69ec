/** How each SDK asks for vectors. */
import { inShell, listed } from './literals.ts'
import { KEY, type Maker, type Sdk } from './snippet.ts'

/** SDKs that send any field of the body. The others have no place for `output_dtype`, or read its answer as float32. */
export const TYPED_SDKS: ReadonlySet<Sdk> = new Set(['curl', 'python', 'node', 'go', 'java'])

/** SDKs whose snippets have inputs with images. */
export const CONTENT_SDKS: readonly Sdk[] = ['curl', 'python', 'node']

/** A part that is there only when its value is. */
const put = <Value>(value: Value | undefined, text: (value: Value) => string): string =>
  value === undefined ? '' : text(value)

/** What is asked for where nobody typed anything. */
const TEXTS = ['cat', 'kitten', 'car']

export const EMBEDDINGS: Record<Sdk, Maker> = {
  curl: ({
    model,
    baseUrl,
    space,
    dimensions,
    outputType,
    contents,
    texts = TEXTS,
  }) => `curl ${baseUrl}/embeddings \\
  -H "Authorization: Bearer ${KEY}" \\
  -H 'Content-Type: application/json' \\${put(
    space,
    (id) => `
  -H 'x-torana-space: ${id}' \\`,
  )}
  -d '{"model": "${model}", ${put(dimensions, (width) => `"dimensions": ${width}, `)}${put(outputType, (type) => `"output_dtype": "${type}", `)}"input": [${inShell(listed(texts, { tab: '    ', last: '', contents }))}]}'
`,
  python: ({
    model,
    baseUrl,
    space,
    dimensions,
    outputType,
    contents,
    texts = TEXTS,
  }) => `from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}",
    api_key="${KEY}",  # a key of your project
)
answer = client.embeddings.create(
    model="${model}",${put(
      dimensions,
      (width) => `
    dimensions=${width},`,
    )}${put(
      outputType,
      (type) => `
    extra_body={"output_dtype": "${type}"},`,
    )}
    input=[${listed(texts, { indent: '    ', contents })}],${put(
      space,
      (id) => `
    extra_headers={"x-torana-space":
        "${id}"},`,
    )}
)
print(len(answer.data[0].embedding))
`,
  node: ({
    model,
    baseUrl,
    space,
    dimensions,
    outputType,
    contents,
    texts = TEXTS,
  }) => `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${baseUrl}',
  apiKey: '${KEY}', // a key of your project
})
const { data } = await client.embeddings.create(
  { model: '${model}', ${put(dimensions, (width) => `dimensions: ${width}, `)}${put(
    outputType,
    (type) => `
    encoding_format: 'float',
    // @ts-expect-error OpenAI's types do not have this field
    output_dtype: '${type}',
    `,
  )}input: [${listed(texts, { quotes: 'single', indent: '  ', tab: '  ', contents })}] },${put(
    space,
    (id) => `
  { headers: { 'x-torana-space': '${id}' } },`,
  )}
)
console.log(data[0].embedding.length)
`,
  go: ({ model, baseUrl, space, dimensions, outputType, texts = TEXTS }) => `package main

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
		option.WithAPIKey("${KEY}"), // a key of your project${put(
      space,
      (id) => `
		option.WithHeader("x-torana-space", "${id}"),`,
    )}
	)
	answer, err := client.Embeddings.New(context.Background(), openai.EmbeddingNewParams{
		Model: "${model}",
		Input: openai.EmbeddingNewParamsInputUnion{
			OfArrayOfStrings: []string{${listed(texts, { indent: '\t\t\t', tab: '\t' })}},
		},${put(
      dimensions,
      (width) => `
		Dimensions: openai.Int(${width}),`,
    )}
	}${put(outputType, (type) => `, option.WithJSONSet("output_dtype", "${type}")`)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(answer.Data[0].Embedding))
}
`,
  java: ({
    model,
    baseUrl,
    space,
    dimensions,
    outputType,
    texts = TEXTS,
  }) => `import com.openai.client.okhttp.OpenAIOkHttpClient;
${put(outputType, () => 'import com.openai.core.JsonValue;\n')}import com.openai.models.embeddings.EmbeddingCreateParams;
import java.util.List;

public class Main {
    public static void main(String[] arguments) {
        var client = OpenAIOkHttpClient.builder()
                .baseUrl("${baseUrl}")
                .apiKey("${KEY}") // a key of your project
                .build();
        var answer = client.embeddings().create(EmbeddingCreateParams.builder()
                .model("${model}")
                .inputOfArrayOfStrings(List.of(${listed(texts, { indent: ' '.repeat(16), last: '' })}))${put(
                  dimensions,
                  (width) => `
                .dimensions(${width})`,
                )}${put(
                  outputType,
                  (type) => `
                .putAdditionalBodyProperty("output_dtype", JsonValue.from("${type}"))`,
                )}${put(
                  space,
                  (id) => `
                .putAdditionalHeader("x-torana-space", "${id}")`,
                )}
                .build());
        System.out.println(answer.data().get(0).embedding().size());
    }
}
`,
  dotnet: ({ model, baseUrl, space, texts = TEXTS }) => `using OpenAI;
using OpenAI.Embeddings;
using System.ClientModel;
using System.ClientModel.Primitives;

var options = new OpenAIClientOptions { Endpoint = new Uri("${baseUrl}") };${put(
    space,
    (id) => `
options.AddPolicy(new Pinned("${id}"), PipelinePosition.PerCall);`,
  )}
var client = new EmbeddingClient("${model}",
    new ApiKeyCredential("${KEY}"), options); // a key of your project
var answer = client.GenerateEmbeddings([${listed(texts)}]).Value;
Console.WriteLine(answer[0].ToFloats().Length);
${put(
  space,
  () => `
class Pinned(string space) : PipelinePolicy
{
    public override void Process(PipelineMessage message,
        IReadOnlyList<PipelinePolicy> pipeline, int index)
    {
        message.Request.Headers.Set("x-torana-space", space);
        ProcessNext(message, pipeline, index);
    }

    public override ValueTask ProcessAsync(PipelineMessage message,
        IReadOnlyList<PipelinePolicy> pipeline, int index)
    {
        message.Request.Headers.Set("x-torana-space", space);
        return ProcessNextAsync(message, pipeline, index);
    }
}
`,
)}`,
  langchain: ({ model, baseUrl, space, texts = TEXTS }) => `from langchain_openai import OpenAIEmbeddings

embeddings = OpenAIEmbeddings(
    model="${model}",
    base_url="${baseUrl}",
    api_key="${KEY}",  # a key of your project${put(
      space,
      (id) => `
    default_headers={"x-torana-space":
        "${id}"},`,
    )}
)
vectors = embeddings.embed_documents([${listed(texts)}])
print(len(vectors[0]))
`,
  'ai-sdk': ({ model, baseUrl, space, texts = TEXTS }) => `import { createOpenAI } from '@ai-sdk/openai'
import { embedMany } from 'ai'

const torana = createOpenAI({
  baseURL: '${baseUrl}',
  apiKey: '${KEY}', // a key of your project${put(
    space,
    (id) => `
  headers: { 'x-torana-space': '${id}' },`,
  )}
})
const { embeddings } = await embedMany({
  model: torana.embeddingModel('${model}'),
  values: [${listed(texts, { quotes: 'single', indent: '  ', tab: '  ' })}],
})
console.log(embeddings[0].length)
`,
  llamaindex: ({
    model,
    baseUrl,
    space,
    texts = TEXTS,
  }) => `from llama_index.embeddings.openai_like import OpenAILikeEmbedding

embeddings = OpenAILikeEmbedding(
    model_name="${model}",
    api_base="${baseUrl}",
    api_key="${KEY}",  # a key of your project${put(
      space,
      (id) => `
    default_headers={"x-torana-space":
        "${id}"},`,
    )}
)
vectors = embeddings.get_text_embedding_batch([${listed(texts)}])
print(len(vectors[0]))
`,
}
