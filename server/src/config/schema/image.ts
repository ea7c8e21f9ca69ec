/** What torana.yaml and the built-in facts may say of image models and of the wires that serve them. */
import { z } from 'zod'
import { edits } from './edit.ts'

const count = () => z.int().min(1)

/** The longest edge that a picture of ours may have: beyond it the number is a typing error. */
const LONGEST_EDGE = 16_384

const SIZE = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/

const pixelSize = z
  .string()
  .regex(SIZE, 'expected a size in pixels such as 1024x1024')
  .refine((text) => Math.max(...edgesOf(text)) <= LONGEST_EDGE, `an edge has at most ${LONGEST_EDGE} pixels`)

const namedSize = z.strictObject({
  size: pixelSize.describe('The exact pixels that come back.'),
  aspectRatio: z
    .string()
    .regex(/^[1-9]\d*:[1-9]\d*$/, "expected a ratio such as '16:9', in quotes")
    .optional()
    .describe('What an upstream that takes ratios is told: `16:9`.'),
  resolution: z
    .string()
    .min(1)
    .optional()
    .describe('What an upstream that takes a word for how large is told: `2K`.'),
})

const sizeList = z
  .array(z.union([pixelSize, namedSize]))
  .min(1)
  .refine(
    (values) => new Set(values.map(sizeOf)).size === values.length,
    'names a size twice: which of the two would be made?',
  )

const freeSizes = z
  .strictObject({
    default: pixelSize.describe('What it makes when nobody asks.'),
    maxEdge: count().max(LONGEST_EDGE).describe('Longest edge in pixels.'),
    multipleOf: count().optional().describe('Both edges are multiples of it. Default 1.'),
    minPixels: count().optional().describe('Fewest pixels in all. Default 1.'),
    maxPixels: count().optional().describe('Most pixels in all. Default `maxEdge` × `maxEdge`.'),
    maxRatio: z
      .number()
      .min(1)
      .optional()
      .describe('Longer edge to shorter edge at most. Default `maxEdge`.'),
  })
  .refine((sizes) => isWithin(sizes), { path: ['default'], error: 'is not within the bounds beside it' })

const unknownSizes = z.strictObject({
  any: pixelSize.describe(
    'Which sizes it makes is not known: the upstream is the judge, and this one bounds the cost when nobody asks.',
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

/** Any of the facts: where none is said, a default counts. */
export const image = z.strictObject({
  maxPromptCharacters: count().optional().describe('Longest prompt in characters. Default 32000.'),
  answersWith: z
    .enum(['b64_json', 'url'])
    .optional()
    .describe(
      'How pictures are handed over when the caller does not say, by all its deployments. Default `b64_json`.',
    ),
  outputTokens: z
    .union([count(), tokensBySize])
    .optional()
    .describe(
      'The most tokens of one picture, for models that charge by them: a number, or a mapping by sizes such as `1024x1024`, each with a number or a mapping by qualities. `default` is for all that are not named. What is reserved before a call comes from here; absent: not known.',
    ),
  inputImageTokens: count()
    .optional()
    .describe(
      'The most input tokens that one given picture counts, for models that charge by them. What is reserved before an edit comes from here; absent: not known.',
    ),
})

const words = (what: string) =>
  z
    .array(z.string().min(1))
    .optional()
    .describe(`Images: which \`${what}\` it takes, beside \`auto\`. Default none: it has no such option.`)

/** Those that embedding capabilities do not have, see `model-schema.ts` for the rest. */
export const imageOnlyCapabilities = {
  maxImages: count().optional().describe('Images: most pictures one call may ask for. Default 1.'),
  sizes: imageSizes
    .optional()
    .describe(
      'Images: which sizes it makes: a list whose first is what comes unasked, bounds, or `any`. Default `{ any: 1024x1024 }`.',
    ),
  qualities: words('quality'),
  backgrounds: words('background'),
  moderations: words('moderation'),
  formats: z
    .array(z.enum(['png', 'jpeg', 'webp']))
    .min(1)
    .optional()
    .describe(
      'Images: which formats it can be asked for; the first is what comes unasked, and alone there is no such field. Default `[png]`.',
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
      'Images: how its wire hands over pictures; the first is what comes unasked. Default `[b64_json]`.',
    ),
  stream: z
    .boolean()
    .optional()
    .describe('Images: whether it answers event by event when asked to. Default `false`.'),
  maxPartialImages: z
    .int()
    .min(0)
    .max(3)
    .optional()
    .describe('Images: most previews of one picture in a stream. Default 0.'),
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
