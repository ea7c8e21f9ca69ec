/** Shapes of the image operations, for OpenAPI. Requests are checked by `core/image/request.ts`, answers are written by hand. */
import { z } from 'zod'

export const imageRequest = z
  .looseObject({
    model: z.string().describe('Id or alias of an image model.'),
    prompt: z.string().max(32_000),
    n: z
      .int()
      .min(1)
      .max(10)
      .optional()
      .describe('How many images. Torana makes several calls if one call makes fewer.'),
    size: z.string().optional().describe('`auto`, or pixels such as `1024x1024`.'),
    quality: z.string().optional(),
    background: z.string().optional(),
    moderation: z.string().optional(),
    complexity: z.string().optional().describe('How much the model plans before it draws.'),
    frame_count: z.int().min(2).max(16).optional().describe('Of a GIF.'),
    output_format: z.string().optional().describe('`png`, `jpeg` or `webp`.'),
    output_compression: z.int().min(0).max(100).optional().describe('For `jpeg` and `webp`.'),
    response_format: z.enum(['url', 'b64_json', 'base64']).optional(),
    stream: z.boolean().optional(),
    partial_images: z.int().min(0).max(3).optional(),
    user: z
      .string()
      .max(512)
      .optional()
      .describe(
        "The application's own user. Torana counts usage by it, and passes it on if the upstream takes it.",
      ),
    metadata: z
      .record(z.string().max(64), z.string().min(1).max(128))
      .optional()
      .describe(
        'Up to eight tags, such as `{"team": "red"}`, for usage reports and the request log. Torana does not pass them on. In a form, use the header `x-torana-tags`.',
      ),
    safety_identifier: z.string().optional(),
    provenance: z
      .enum(['keep'])
      .optional()
      .describe('`keep`: Torana refuses a conversion, which would drop the C2PA manifest of the image.'),
  })
  .describe('Torana passes unlisted fields on to OpenAI-compatible upstreams, and refuses them for others.')
  .meta({
    id: 'ImageRequest',
    examples: [{ model: 'demo-image', prompt: 'a lighthouse in the fog', size: '1024x1024' }],
  })

const reference = z
  .object({ image_url: z.string() })
  .describe('In JSON: a data URL, or an address if the upstream fetches addresses.')
const file = z.union([z.string().describe('In a form: a file.'), reference])

export const imageEditRequest = imageRequest
  .extend({
    image: z
      .union([z.string(), z.array(z.string())])
      .optional()
      .describe('In a form: the input images as files, at most 16, under `image`, `image[]` or `image[0]`.'),
    images: z.array(reference).optional().describe('In JSON: the input images.'),
    mask: file
      .optional()
      .describe('Fully transparent where the first input image should change, and of the same size.'),
    markup: file.optional().describe('A drawing on top of the first input image. Not together with a mask.'),
    input_fidelity: z.string().optional(),
  })
  .describe(
    'As multipart/form-data or as JSON. Torana passes unlisted fields on to OpenAI-compatible upstreams, and refuses them for others.',
  )
  .meta({
    id: 'ImageEditRequest',
    examples: [{ model: 'gpt-image-2', prompt: 'a night sky', image: '@harbour.png' }],
  })

export const imageAnswer = z
  .looseObject({
    created: z.int().describe('Unix seconds.'),
    data: z.array(
      z.object({
        b64_json: z.string().optional(),
        url: z.string().optional().describe("A signed link of this gateway, never the upstream's."),
        revised_prompt: z.string().optional(),
      }),
    ),
    usage: z
      .object({ total_tokens: z.int(), input_tokens: z.int(), output_tokens: z.int() })
      .loose()
      .optional()
      .describe('Present if the upstream counted tokens.'),
  })
  .describe(
    'With `stream: true` an event stream of `image_generation.partial_image` and `.completed` instead, `image_edit.…` for edits.',
  )
  .meta({
    id: 'ImageAnswer',
    examples: [
      {
        created: 1_763_424_000,
        data: [{ url: 'http://127.0.0.1:8080/v1/assets/0197f0f3-6a2c-7d61-9c55-3f1b1c2d3e4f?signature=…' }],
      },
    ],
  })

export const imageJob = z
  .object({
    id: z.string(),
    object: z.literal('image.job'),
    status: z.enum(['queued', 'running', 'succeeded', 'failed', 'unknown']),
    created_at: z.int(),
    expires_at: z.int().describe('Torana keeps the images until then.'),
    model: z.string(),
    result: imageAnswer.optional(),
    extra: z
      .array(z.object({ id: z.string(), url: z.string() }))
      .optional()
      .describe('Images that the upstream made beyond what was asked for. They are paid for and kept.'),
    provenance: z
      .string()
      .optional()
      .describe(
        'What became of the C2PA manifest of the images: `kept`, `dropped` by a conversion, or `none`. Several with commas if they differ. Absent: Torana does not look into their format.',
      ),
    originals: z
      .array(z.object({ id: z.string(), url: z.string() }))
      .optional()
      .describe('Images whose manifest a conversion dropped, as they came from the upstream.'),
    error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
  })
  .meta({
    id: 'ImageJob',
    examples: [
      {
        id: '0197f0f3-6a2c-7d61-9c55-3f1b1c2d3e4f',
        object: 'image.job',
        status: 'running',
        created_at: 1_763_424_000,
        expires_at: 1_763_510_400,
        model: 'demo-image',
      },
    ],
  })
