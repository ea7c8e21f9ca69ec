/** The public contract as schemas: documentation and OpenAPI come from here. The hot lane checks the same rules by hand. */
import { z } from 'zod'
import { type FaultCode } from '#core/fault/fault.ts'
import { FAULTS } from '#core/fault/table.ts'

const input = z
  .union([
    z.string().min(1),
    z.array(z.string().min(1)).min(1).max(2048),
    z.array(z.int().nonnegative()).min(1),
    z.array(z.array(z.int().nonnegative()).min(1)).min(1).max(2048),
  ])
  .describe('A text, texts, one array of token ids, or several.')

const embeddingOptions = {
  input,
  dimensions: z
    .int()
    .min(1)
    .nullish()
    .describe(
      'Width of the vectors: native, or shortened by Torana on Matryoshka models; refused on other models.',
    ),
  encoding_format: z.enum(['float', 'base64']).nullish().describe('Form of the vectors. Default float.'),
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
    .describe("The application's own user. Torana logs it, and passes it on if the upstream takes it."),
}

export const embeddingRequest = z
  .looseObject({
    model: z.string().min(1).describe('Id or alias of an embedding model.'),
    ...embeddingOptions,
  })
  .meta({ id: 'EmbeddingRequest' })

export const pathEmbeddingRequest = z
  .looseObject({
    model: z.string().nullish().describe('May repeat the model of the path.'),
    ...embeddingOptions,
  })
  .meta({ id: 'PathEmbeddingRequest' })

export const embeddingAnswer = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int().nonnegative(),
        embedding: z.union([z.array(z.number()), z.string().describe('base64 of little-endian float32')]),
      }),
    ),
    model: z.string().describe('The model of the request.'),
    usage: z.object({ prompt_tokens: z.int().nonnegative(), total_tokens: z.int().nonnegative() }),
  })
  .meta({ id: 'EmbeddingAnswer' })

const embeddingCapabilities = z.object({
  kind: z.literal('embedding'),
  alias_of: z.string().optional(),
  dimensions: z.int(),
  dimensions_native: z.union([
    z.literal('fixed'),
    z.object({ min: z.int(), max: z.int() }),
    z.array(z.int()),
  ]),
  dimensions_emulated: z.boolean(),
  max_input_tokens: z.int().optional(),
  max_inputs: z.int(),
  input_types: z.array(z.string()),
  token_arrays: z.enum(['native', 'emulated', 'unsupported']),
  space: z
    .string()
    .optional()
    .describe('The vector space at the full width. Absent: this node has not read it from PostgreSQL yet.'),
})

const imageCapabilities = z.object({
  kind: z.literal('image'),
  alias_of: z.string().optional(),
  sizes: z
    .union([
      z.array(z.string()),
      z.object({
        default: z.string(),
        multiple_of: z.int(),
        min_pixels: z.int(),
        max_pixels: z.int(),
        max_edge: z.int(),
        max_ratio: z.number(),
      }),
      z.literal('any'),
    ])
    .describe('A list of sizes, the limits for any size, or `any` if the upstream decides.'),
  qualities: z
    .array(z.string())
    .describe('Beside `auto`; empty: no such option. The same holds for the next two.'),
  backgrounds: z.array(z.string()),
  moderations: z.array(z.string()),
  formats: z.array(z.enum(['png', 'jpeg', 'webp'])).describe('What `output_format` may be.'),
  formats_native: z
    .array(z.enum(['png', 'jpeg', 'webp']))
    .describe('Formats that the upstream makes itself; Torana converts to the others.'),
  max_images: z.int().describe('The largest `n`.'),
  max_images_per_call: z.int().describe('Torana makes several calls for more.'),
  max_prompt_characters: z.int(),
  stream: z.enum(['native', 'emulated']).describe('Emulated: one event with the finished image.'),
  max_partial_images: z.int(),
  response_formats: z.array(z.enum(['b64_json', 'url'])),
  response_format_default: z.enum(['b64_json', 'url']),
  edits: z
    .object({
      max_images: z.int().describe('Most input images of one request.'),
      max_file_bytes: z.int().describe('Largest input image in bytes.'),
      formats: z.array(z.enum(['png', 'jpeg', 'webp'])).describe('Formats of input images.'),
      mask: z
        .boolean()
        .describe('Whether it takes `mask`: transparent where the first input image should change.'),
      markup: z.boolean(),
      input_fidelities: z.array(z.string()).describe('Empty: no such option.'),
    })
    .optional()
    .describe('What the model can do with input images. Absent: it makes images from text only.'),
})

export const modelObject = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
    capabilities: z.discriminatedUnion('kind', [embeddingCapabilities, imageCapabilities]),
  })
  .meta({ id: 'Model' })

export const modelList = z
  .object({ object: z.literal('list'), data: z.array(modelObject) })
  .meta({ id: 'ModelList' })

export const errorAnswer = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.enum(Object.keys(FAULTS) as [FaultCode, ...FaultCode[]]),
      request_id: z.string(),
      doc_url: z.string(),
      upstream: z
        .object({ deployment: z.string(), status: z.int().optional(), request_id: z.string().optional() })
        .optional()
        .describe('Present when an upstream failed.'),
    }),
  })
  .meta({ id: 'Error' })

/** Which statuses an operation can answer with, for OpenAPI. */
export function faultAnswers(statuses: readonly number[]): Record<number, typeof errorAnswer> {
  return Object.fromEntries(
    statuses.map((status) => {
      const codes = Object.entries(FAULTS).filter(([, entry]) => entry.status === status)
      return [status, errorAnswer.describe(codes.map(([code]) => code).join(', '))]
    }),
  )
}
