/** The parts that torana.yaml and the built-in facts share: what a model is, and what a deployment's wire can do. */
import { z } from 'zod'
import { imageOnlyCapabilities } from './image.ts'

const count = () => z.int().min(1)

export const modelId = z
  .string()
  .regex(
    /^[\x21-\x7e]{1,200}$/,
    'a model id is 1 to 200 visible ASCII characters without spaces: it travels in URLs and headers',
  )

export const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, 'expected a day such as 2027-01-31')
  .refine(isDay, 'is no day of the calendar')

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
  .describe('What counts when the caller sends no `input_type`; absent: nothing is sent.')

const inputTypeRule = z.union([
  z.literal('none'),
  z
    .strictObject({
      field: z.string().min(1).describe("The upstream's field, e.g. `input_type` or `task`."),
      values: perInputType("The upstream's value").describe(
        "The upstream's word for each input type it knows.",
      ),
      default: defaultInputType,
    })
    .refine((rule) => rule.default === undefined || rule.default in rule.values, {
      path: ['default'],
      error: 'must be one of those under `values`',
    }),
  z
    .strictObject({
      prefixes: perInputType('The text put before the input').describe(
        'The text that the model card prescribes before the input, for each input type.',
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
  dimensions: count().max(65_536).describe('Native width of the vectors.'),
  matryoshka: z
    .boolean()
    .optional()
    .describe(
      'Whether its maker declares that shortened, renormalised vectors are good ones. Only then does Torana emulate `dimensions`. Default `false`.',
    ),
  maxInputTokens: count()
    .optional()
    .describe('Longest single input in tokens. Absent: the upstream is the judge.'),
  tokenizer: z
    .enum(['cl100k_base', 'none'])
    .optional()
    .describe(
      'How arrays of token ids are turned back into text for upstreams that take only text. Default `cl100k_base`, because that is what OpenAI clients send; `none` refuses them.',
    ),
  tokenCounts: z
    .enum(['exact', 'estimated'])
    .optional()
    .describe(
      "`exact` when `tokenizer` is the model's own, so that Torana can refuse inputs that are too long. Default: `exact` when a deployment takes token arrays, which are in that vocabulary; else `estimated`.",
    ),
  inputType: inputTypeRule
    .optional()
    .describe(
      'How the model is told query from document: `none`, a field of the upstream, or prefixes. Default `none`.',
    ),
})

const nativeDimensions = z.union([
  z.literal('none'),
  z
    .strictObject({ min: count().describe('Least width.'), max: count().describe('Greatest width.') })
    .refine((range) => range.min <= range.max, { path: ['min'], error: 'must not be above max' }),
  z.array(count()).min(1),
])

/** What wires of every kind have. */
const commonCapabilities = {
  user: z
    .boolean()
    .optional()
    .describe('Whether it takes `user`; otherwise it is recorded and absorbed. Default `false`.'),
  maxParallelCalls: count()
    .optional()
    .describe('Calls of one request that may run side by side. Default 8; of images 4.'),
  harmlessFields: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'Unknown request fields that do not change vectors, so that splitting and dedupe stay allowed; of images, those that the price is known not to depend on. Default none.',
    ),
}

export const capabilities = z.strictObject({
  maxInputs: count().optional().describe('Most inputs one call may carry. Default 2048.'),
  maxTokens: count().optional().describe('Most tokens one call may carry in all. Absent: no bound.'),
  maxBytes: count().optional().describe('Largest request body in bytes. Absent: no bound.'),
  encodings: z
    .array(z.enum(['float', 'base64']))
    .min(1)
    .optional()
    .describe('Forms the upstream can answer in; `base64` is asked for when listed. Default `[float]`.'),
  tokenArrays: z
    .boolean()
    .optional()
    .describe(
      "Whether it takes arrays of token ids in the vocabulary of `tokenizer`; ids of the model's own vocabulary don't count, since callers don't send those. Default `false`.",
    ),
  dimensions: nativeDimensions
    .optional()
    .describe('Which `dimensions` it takes natively: `none`, a range, or a list. Default `none`.'),
  dimensionsField: z
    .string()
    .min(1)
    .optional()
    .describe("The upstream's name for `dimensions`. Default `dimensions`."),
  countsTokens: z
    .boolean()
    .optional()
    .describe(
      'Whether the token figures of its answers are counts. `false` for servers that always say 0: Torana then estimates. Default `true`.',
    ),
  ...commonCapabilities,
})

export const imageCapabilities = z.strictObject({ ...imageOnlyCapabilities, ...commonCapabilities })

/** In torana.yaml the kind of a model is known only once its facts are: `build.ts` tells of fields of the other kind. */
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
