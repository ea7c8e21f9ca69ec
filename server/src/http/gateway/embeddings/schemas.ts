/** Embeddings as schemas, for the OpenAPI document. `core/embedding/request.ts` checks the same rules by hand. */
import { VECTOR_TYPES } from '#core/catalog/vector-type.ts'
import { z } from 'zod'

const data = z.union([
  z.string().describe('A data URL in base64, or an https address.'),
  z.object({ url: z.string() }),
])

const contentPart = z
  .union([
    z.object({ type: z.literal('text'), text: z.string().min(1) }),
    z.object({ type: z.literal('image_url'), image_url: data }),
    z.object({
      type: z.literal('input_audio'),
      input_audio: z.object({ data: z.string().describe('Base64.'), format: z.string().optional() }),
    }),
    z.object({ type: z.literal('video_url'), video_url: data }),
    z.object({
      type: z.literal('file'),
      file: z.object({
        file_data: z.string().describe('A data URL of a PDF.'),
        filename: z.string().optional(),
      }),
    }),
  ])
  .meta({ id: 'ContentPart' })

const content = z
  .object({
    content: z.array(contentPart).min(1).max(64).describe('Parts that the model makes one vector of.'),
  })
  .meta({ id: 'Content' })

const input = z
  .union([
    z.string().min(1),
    z.array(z.string().min(1)).min(1).max(2048),
    z.array(z.int().nonnegative()).min(1),
    z.array(z.array(z.int().nonnegative()).min(1)).min(1).max(2048),
    z
      .array(z.union([z.string().min(1), content]))
      .min(1)
      .max(2048),
  ])
  .describe(
    'A text, texts, one array of token ids, several, or contents: images, audio, video and PDF, for models that take them. The forms of Cohere, Voyage, Jina, Infinity and vLLM are read as contents too.',
  )

const embeddingOptions = {
  input,
  dimensions: z
    .int()
    .min(1)
    .nullish()
    .describe(
      'Width of the vectors: native, or shortened by Torana on Matryoshka models; refused on other models.',
    ),
  output_dimension: z.int().min(1).nullish().describe("Cohere's and Voyage's name for `dimensions`."),
  encoding_format: z
    .enum(['float', 'base64'])
    .nullish()
    .describe(
      "Form of the vectors: numbers, or base64 of their little-endian bytes. Default float. OpenAI's SDKs decode base64 as float32, so they always get numbers for other types.",
    ),
  output_dtype: z
    .enum(VECTOR_TYPES)
    .nullish()
    .describe(
      'Type of the vectors. Torana passes on what the upstream makes itself, and makes float16 (by rounding) and binary (by sign) from float32 itself. Default float.',
    ),
  embedding_types: z
    .array(z.enum(VECTOR_TYPES))
    .min(1)
    .nullish()
    .describe("Cohere's name for the same. Several types come from one call."),
  embedding_type: z.enum(VECTOR_TYPES).nullish().describe("Jina's name for the same."),
  input_type: z
    .enum(['query', 'document', 'classification', 'clustering', 'similarity'])
    .nullish()
    .describe(
      'What the text is for, on models that treat queries and documents differently. An addition of Torana.',
    ),
  user: z
    .string()
    .max(512)
    .nullish()
    .describe(
      "The application's own user. Torana counts usage by it, and passes it on if the upstream takes it.",
    ),
  metadata: z
    .record(z.string().max(64), z.string().min(1).max(128))
    .nullish()
    .describe(
      'Up to eight tags, such as `{"team": "red"}`, for usage reports and the request log. Torana does not pass them on. The header `x-torana-tags` does the same.',
    ),
}

export const embeddingRequest = z
  .looseObject({
    model: z.string().min(1).describe('Id or alias of an embedding model.'),
    ...embeddingOptions,
  })
  .meta({ id: 'EmbeddingRequest', examples: [{ model: 'demo-embed', input: ['cat', 'kitten', 'car'] }] })

export const pathEmbeddingRequest = z
  .looseObject({
    model: z.string().nullish().describe('May repeat the model of the path.'),
    ...embeddingOptions,
  })
  .meta({ id: 'PathEmbeddingRequest', examples: [{ input: ['cat', 'kitten', 'car'] }] })

const vector = z.union([
  z.array(z.number()),
  z.string().describe('base64 of little-endian values of the type'),
])

export const embeddingAnswer = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int().nonnegative(),
        embedding: vector,
        embeddings: z
          .partialRecord(z.enum(VECTOR_TYPES), vector)
          .optional()
          .describe('By type, where the request asked for several; `embedding` is the first of them.'),
      }),
    ),
    model: z.string().describe('The model of the request.'),
    usage: z.object({
      prompt_tokens: z.int().nonnegative(),
      total_tokens: z.int().nonnegative(),
      prompt_tokens_details: z
        .object({
          text_tokens: z.int().nonnegative().optional(),
          image_tokens: z.int().nonnegative().optional(),
          audio_tokens: z.int().nonnegative().optional(),
          video_tokens: z.int().nonnegative().optional(),
          file_tokens: z.int().nonnegative().optional(),
        })
        .optional()
        .describe('Tokens by kind of part, in answers to contents.'),
    }),
  })
  .meta({
    id: 'EmbeddingAnswer',
    examples: [
      {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [0.048601195, -0.04893485] }],
        model: 'demo-embed',
        usage: { prompt_tokens: 3, total_tokens: 3 },
      },
    ],
  })
