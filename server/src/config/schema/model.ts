/**
 * The schema that torana.yaml and the built-in facts share: a model's facts, and the capabilities of a deployment's wire.
 */
import { z } from 'zod'
import { contents, mediaTokens } from './contents.ts'
import { imageOnlyCapabilities } from './image.ts'

const count = () => z.int().min(1)

export const modelId = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'a model id has 1 to 200 visible ASCII characters without spaces')

export const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, 'expected a day such as 2027-01-31')
  .refine(isDay, 'is not a day of the calendar')

const inputType = z.enum(['query', 'document', 'classification', 'clustering', 'similarity'])

const perInputType = (what: string) =>
  z
    .strictObject(
      Object.fromEntries(
        inputType.options.map((name) => [
          name,
          z.string().exactOptional().describe(`${what} for \`input_type: ${name}\`.`),
        ]),
      ) as Record<z.infer<typeof inputType>, z.ZodExactOptional<z.ZodString>>,
    )
    .refine(
      (values) => Object.keys(values).length > 0,
      `name at least one of ${inputType.options.join(', ')}`,
    )

const defaultInputType = inputType
  .optional()
  .describe('The input type if the caller sends none. Absent: Torana sends none.')

const inputTypeRule = z.union([
  z.literal('none'),
  z
    .strictObject({
      field: z.string().min(1).describe("The upstream's field, e.g. `input_type` or `task`."),
      values: perInputType("The upstream's value").describe("The upstream's word for each input type."),
      default: defaultInputType,
    })
    .refine((rule) => rule.default === undefined || rule.default in rule.values, {
      path: ['default'],
      error: 'must be one of those under `values`',
    }),
  z
    .strictObject({
      prefixes: perInputType('The text put before the input').describe(
        'The prefix for each input type, from the model card.',
      ),
      default: defaultInputType,
    })
    .refine((rule) => rule.default === undefined || rule.default in rule.prefixes, {
      path: ['default'],
      error: 'must be one of those under `prefixes`',
    }),
])

export const embedding = z.strictObject({
  // 65,536 is far above any published model; beyond it the number is a typing error that would cost memory per vector.
  dimensions: count().max(65_536).describe('Width of the vectors.'),
  matryoshka: z
    .boolean()
    .optional()
    .describe(
      'Whether the maker allows shortened, renormalised vectors. Only then does Torana emulate `dimensions`. Default `false`.',
    ),
  maxInputTokens: count()
    .optional()
    .describe('Longest single input in tokens. Absent: the upstream decides.'),
  tokenizer: z
    .enum(['cl100k_base', 'none'])
    .optional()
    .describe(
      'The tokenizer that turns token ids back into text, for upstreams that take only text. Default `cl100k_base`, which OpenAI clients use; with `none`, Torana refuses token ids.',
    ),
  tokenCounts: z
    .enum(['exact', 'estimated'])
    .optional()
    .describe(
      "`exact` if `tokenizer` is the model's own, so that Torana can refuse inputs that are too long. Default: `exact` if a deployment takes token arrays; else `estimated`.",
    ),
  inputType: inputTypeRule
    .optional()
    .describe(
      'How the model distinguishes queries from documents: `none`, a field of the upstream, or prefixes. Default `none`.',
    ),
  mediaTokens: mediaTokens
    .optional()
    .describe(
      'Tokens of images, audio, video and PDF, to reserve before a call and to estimate afterwards. Absent: a content counts as `maxInputTokens`.',
    ),
  binary: z
    .enum(['trained', 'accepted'])
    .optional()
    .describe(
      'Whether Torana makes `binary` and `ubinary` vectors of it: `trained` if its maker trained the model for one bit per dimension, `accepted` if you measured the loss and accept it. Absent: Torana refuses these types.',
    ),
})

const nativeDimensions = z.union([
  z.literal('none'),
  z
    .strictObject({ min: count().describe('Least width.'), max: count().describe('Greatest width.') })
    .refine((range) => range.min <= range.max, { path: ['min'], error: 'must not be above max' }),
  z.array(count()).min(1),
])

/** Capabilities of wires of every kind. */
const commonCapabilities = {
  user: z
    .boolean()
    .optional()
    .describe('Whether it takes `user`. Otherwise Torana keeps it for its own reports. Default `false`.'),
  maxParallelCalls: count()
    .optional()
    .describe('Most concurrent calls of one request. Default 8; for images 4.'),
  harmlessFields: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'Embeddings: unknown request fields that do not change vectors, so that answers keep the name of their space, and Torana may split, merge and cache inputs. Images: unknown fields that do not change the price. Default: those of the catalog.',
    ),
}

export const capabilities = z.strictObject({
  maxInputs: count().optional().describe('Most inputs of one call. Default 2048.'),
  maxTokens: count().optional().describe('Most tokens of one call in total. Absent: no limit.'),
  maxBytes: count().optional().describe('Largest request body in bytes. Absent: no limit.'),
  encodings: z
    .array(z.enum(['float', 'base64']))
    .min(1)
    .optional()
    .describe('Formats of the answer. Torana asks for `base64` if it is listed. Default `[float]`.'),
  tokenArrays: z
    .boolean()
    .optional()
    .describe(
      'Whether it takes token ids of the vocabulary of `tokenizer`. Ids of another vocabulary do not count. Default `false`.',
    ),
  dimensions: nativeDimensions
    .optional()
    .describe('Which `dimensions` the upstream supports: `none`, a range, or a list. Default `none`.'),
  dimensionsField: z
    .string()
    .min(1)
    .optional()
    .describe("The upstream's name for `dimensions`. Default `dimensions`."),
  unitDimensions: z
    .boolean()
    .optional()
    .describe(
      'Whether vectors that the upstream shortened have length 1. With `false`, Torana scales them. Default `true`.',
    ),
  outputTypes: z
    .array(z.enum(['float', 'int8', 'uint8', 'binary', 'ubinary']))
    .min(1)
    .optional()
    .describe(
      'Types of vectors that the upstream makes itself. Torana asks for them by name and never mixes them with its own. Default `[float]`.',
    ),
  outputTypeField: z
    .string()
    .min(1)
    .optional()
    .describe("The upstream's name for `output_dtype`. Default `output_dtype`."),
  countsTokens: z
    .boolean()
    .optional()
    .describe(
      'Whether the upstream counts tokens. `false` for servers that always report 0: Torana then estimates. Default `true`.',
    ),
  contents: contents
    .optional()
    .describe('What it takes besides texts, and on which wire. Absent: it takes texts alone.'),
  ...commonCapabilities,
})

export const imageCapabilities = z.strictObject({ ...imageOnlyCapabilities, ...commonCapabilities })

/** In torana.yaml the kind of a model is known only once its facts are: `build.ts` reports fields of the other kind. */
export const anyCapabilities = z.strictObject({ ...capabilities.shape, ...imageOnlyCapabilities })

/** `Date` itself turns the 31st of February into the 3rd of March. */
export function isDay(text: string): boolean {
  const timeMs = Date.parse(text)
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(text)
}

/** Any of the facts: torana.yaml overrides single ones. */
export const embeddingLayer = embedding.partial()

export type EmbeddingLayer = z.output<typeof embeddingLayer>
export type CapabilityFields = z.output<typeof capabilities>
export type ImageCapabilityFields = z.output<typeof imageCapabilities>
export type InputTypeFields = z.output<typeof inputTypeRule>
export type DimensionFields = z.output<typeof nativeDimensions>
