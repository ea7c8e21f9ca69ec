/** Fields of torana.yaml and the built-in facts for image models and the wires that serve them. */
import { z } from 'zod'
import { edits } from './edit.ts'

const count = () => z.int().min(1)

/** Longest edge of an image: a larger number is a typo. */
const MAX_EDGE = 16_384

const SIZE = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/

const pixelSize = z
  .string()
  .regex(SIZE, 'expected a size in pixels such as 1024x1024')
  .refine((text) => Math.max(...edgesOf(text)) <= MAX_EDGE, `an edge has at most ${MAX_EDGE} pixels`)

const namedSize = z.strictObject({
  size: pixelSize.describe('The exact pixels of the image.'),
  aspectRatio: z
    .string()
    .regex(/^[1-9]\d*:[1-9]\d*$/, "expected a ratio such as '16:9', in quotes")
    .optional()
    .describe('For upstreams that take ratios: `16:9`.'),
  resolution: z.string().min(1).optional().describe('For upstreams that take a word for the size: `2K`.'),
})

const sizeList = z
  .array(z.union([pixelSize, namedSize]))
  .min(1)
  .refine((values) => new Set(values.map(sizeOf)).size === values.length, 'names a size twice: keep one')

const freeSizes = z
  .strictObject({
    default: pixelSize.describe('The default size.'),
    maxEdge: count().max(MAX_EDGE).describe('Longest edge in pixels.'),
    multipleOf: count().optional().describe('Both edges must be multiples of it. Default 1.'),
    minPixels: count().optional().describe('Fewest pixels. Default 1.'),
    maxPixels: count().optional().describe('Most pixels. Default `maxEdge` × `maxEdge`.'),
    maxRatio: z
      .number()
      .min(1)
      .optional()
      .describe('Largest ratio of the longer edge to the shorter one. Default `maxEdge`.'),
  })
  .refine((sizes) => isWithin(sizes), { path: ['default'], error: 'is outside of the limits beside it' })

const unknownSizes = z.strictObject({
  any: pixelSize.describe(
    'The sizes are not known, and the upstream decides. Torana uses this size for the cost if the caller names none.',
  ),
})

const imageSizes = z.union([sizeList, freeSizes, unknownSizes])

const tokensByQuality = z
  .record(z.string(), count())
  .refine((table) => Object.keys(table).length > 0, 'name at least one quality, or default')

const tokensBySize = z
  .record(
    z
      .string()
      .regex(
        /^([1-9]\d*x[1-9]\d*|default)$/,
        'expected a size in pixels such as 1024x1024, or default for all that are not named',
      ),
    z.union([count(), tokensByQuality]),
  )
  .refine((table) => Object.keys(table).length > 0, 'name at least one size, or default')

/** Any of the facts: missing ones have defaults. */
export const image = z.strictObject({
  maxPromptCharacters: count().optional().describe('Longest prompt in characters. Default 32000.'),
  answersWith: z
    .enum(['b64_json', 'url'])
    .optional()
    .describe('How images are delivered if the caller does not say. Default `b64_json`.'),
  outputTokens: z
    .union([count(), tokensBySize])
    .optional()
    .describe(
      'The highest number of tokens of one image, for models with a price by tokens: a number, or a mapping by sizes such as `1024x1024`, each with a number or a mapping by qualities. `default` is for all that are not named. What is reserved before a call comes from here; absent: not known.',
    ),
  inputImageTokens: count()
    .optional()
    .describe(
      'The highest number of input tokens of one input image, for models with a price by tokens. Torana reserves by it before an edit. Absent: not known.',
    ),
})

const words = (what: string) =>
  z
    .array(z.string().min(1))
    .optional()
    .describe(`Images: values of \`${what}\`, in addition to \`auto\`. Default none: no such option.`)

/** Those that embedding capabilities do not have, see `model-schema.ts` for the rest. */
export const imageOnlyCapabilities = {
  maxImages: count().optional().describe('Images: most images of one call. Default 1.'),
  sizes: imageSizes
    .optional()
    .describe(
      'Images: sizes: a list (the first one is the default), limits, or `any`. Default `{ any: 1024x1024 }`.',
    ),
  qualities: words('quality'),
  backgrounds: words('background'),
  moderations: words('moderation'),
  complexities: words('complexity'),
  formats: z
    .array(z.enum(['png', 'jpeg', 'webp', 'gif', 'svg']))
    .min(1)
    .refine(([first]) => first !== 'gif' && first !== 'svg', {
      path: [0],
      message: 'the first one is the default: png, jpeg or webp',
    })
    .optional()
    .describe(
      'Images: file formats; the first one is the default. With a single one, Torana does not send the field. `gif` and `svg` work only where the upstream makes them. Default `[png]`.',
    ),
  compression: z
    .boolean()
    .optional()
    .describe('Images: whether it takes `output_compression`. Default `false`.'),
  forms: z
    .array(z.enum(['b64_json', 'url']))
    .min(1)
    .optional()
    .describe(
      'Images: how the upstream delivers images; the first one is the default. Default `[b64_json]`.',
    ),
  stream: z.boolean().optional().describe('Images: whether it supports streams. Default `false`.'),
  maxPartialImages: z
    .int()
    .min(0)
    .max(3)
    .optional()
    .describe('Images: most previews of one image in a stream. Default 0.'),
  refusedFields: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'Images: request fields that the upstream refuses, such as `style` of the DALL·E models. Torana refuses them itself, or drops them where that is allowed. Default none.',
    ),
  reportedCost: z
    .union([
      z.literal('none'),
      z.strictObject({
        field: z
          .string()
          .regex(/^\w+(\.\w+)*$/, 'expected the name of a field such as cost, or a path such as usage.cost')
          .describe('Where the answer of the upstream has the number: `cost`, `usage.cost`.'),
        usdPerUnit: z
          .number()
          .positive()
          .max(1000)
          .describe('What one unit of that number is worth in US dollars: 1, or 0.01 for cents.'),
      }),
    ])
    .optional()
    .describe(
      'Images: the upstream says in its answers what a call costs. Torana charges that figure instead of the price, and says so. `none`: it is not used. Default `none`.',
    ),
  edits,
}

export type ImageLayer = z.output<typeof image>
export type ImageSizeFields = z.output<typeof imageSizes>

/** Width and height of a sound size; of any other, none. */
export function edgesOf(size: string): [width: number, height: number] {
  const [, width, height] = SIZE.exec(size) ?? []
  return [Number(width ?? 0), Number(height ?? 0)]
}

function sizeOf(entry: string | { readonly size: string }): string {
  return typeof entry === 'string' ? entry : entry.size
}

function isWithin(sizes: {
  readonly default: string
  readonly maxEdge: number
  readonly multipleOf?: number | undefined
  readonly minPixels?: number | undefined
  readonly maxPixels?: number | undefined
  readonly maxRatio?: number | undefined
}): boolean {
  const { maxEdge, multipleOf = 1, minPixels = 1, maxPixels = maxEdge ** 2, maxRatio = maxEdge } = sizes
  const edges = edgesOf(sizes.default)
  const [shorter, longer] = [Math.min(...edges), Math.max(...edges)]
  const pixels = shorter * longer
  return (
    edges.every((edge) => edge % multipleOf === 0) &&
    longer <= maxEdge &&
    pixels >= minPixels &&
    pixels <= maxPixels &&
    longer <= shorter * maxRatio
  )
}
