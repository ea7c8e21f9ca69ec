/** Models as schemas, for the OpenAPI document. */
import { z } from 'zod'

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
  contents: z
    .object({
      inputs: z.array(z.string()),
      formats: z.array(z.string()),
      max_parts: z.int().describe('Of one content. 1: the model fuses no parts.'),
    })
    .optional()
    .describe('What it takes besides texts: images, audio, video, PDF. Absent: texts alone.'),
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
    .describe('Beside `auto`; empty: no such option. The same holds for the next three.'),
  complexities: z.array(z.string()),
  backgrounds: z.array(z.string()),
  moderations: z.array(z.string()),
  formats: z.array(z.enum(['png', 'jpeg', 'webp', 'gif', 'svg'])).describe('What `output_format` may be.'),
  formats_native: z
    .array(z.enum(['png', 'jpeg', 'webp', 'gif', 'svg']))
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
    shutdown_date: z
      .string()
      .nullable()
      .describe(
        'The day on which the model ends, such as `2026-12-01`: the last day of all its deployments. null: one of them has no such day.',
      ),
    capabilities: z.discriminatedUnion('kind', [embeddingCapabilities, imageCapabilities]),
  })
  .meta({ id: 'Model' })

export const modelList = z
  .object({ object: z.literal('list'), data: z.array(modelObject) })
  .meta({ id: 'ModelList' })
