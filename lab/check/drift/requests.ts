/** The models and requests of which the answers with and without rides must be equal: every way in which a call can differ. */
import { contentModel, contentWires } from '../../conformance/content-wires.ts'
import { dataUri, image } from '../../fake-provider/sample-media.ts'

export interface AskedModel {
  readonly name: string
  /** Traits of the fake provider. */
  readonly traits: string
  /** Path of the wire below the traits. */
  readonly wire?: string
  readonly upstream?: object
  /** What the upstream calls the model. */
  readonly model?: string
  readonly capabilities?: object
  readonly entry?: object
  /** The fields of a request beside the model, of which several are sent shortly after one another where there are more. */
  readonly groups: (number: number) => readonly object[]
}

const WIDTH = 64
/** Requests that share a call: it leaves when all of them are there. */
const SHARED = 4

function text(number: number, words = 7): string {
  const from =
    'the quiet harbour keeps a lantern for ships that come back late in winter with cold hands'.split(' ')
  return `${number}: ${Array.from({ length: words }, (_, at) => from[(number * 5 + at * 3) % from.length]).join(' ')}`
}

function texts(number: number, count: number): string[] {
  return Array.from({ length: count }, (_, at) => text(number * 31 + at, 1 + ((number + at) % 12)))
}

/** From one text to twenty. */
function several(number: number): { readonly input: string | string[] } {
  return { input: number % 3 === 0 ? text(number) : texts(number, 1 + (number % 20)) }
}

const formats = ['float', 'base64'] as const

function plain(number: number): object {
  return { ...several(number), encoding_format: formats[number % 2] }
}

const TEXT_MODELS: readonly AskedModel[] = [
  { name: 'floats', traits: 'plain', groups: (n) => [plain(n)] },
  { name: 'base64', traits: 'plain', capabilities: { encodings: ['base64'] }, groups: (n) => [plain(n)] },
  { name: 'wide-floats', traits: 'wide-floats', groups: (n) => [plain(n)] },
  { name: 'shuffled', traits: 'shuffled', groups: (n) => [plain(n)] },
  { name: 'extra-fields', traits: 'extra-fields', groups: (n) => [plain(n)] },
  {
    name: 'native-dimensions',
    traits: 'plain',
    entry: { matryoshka: true },
    capabilities: { dimensions: { min: 8, max: WIDTH } },
    groups: (n) => [{ ...plain(n), dimensions: [8, 16, 32, WIDTH][n % 4] }],
  },
  {
    name: 'unscaled-dimensions',
    traits: 'unscaled-dimensions',
    entry: { matryoshka: true },
    capabilities: { dimensions: [16, 32], unitDimensions: false },
    groups: (n) => [{ ...plain(n), ...(n % 3 > 0 && { dimensions: 16 * (n % 3) }) }],
  },
  {
    name: 'emulated-dimensions',
    traits: 'plain',
    entry: { matryoshka: true },
    groups: (n) => [{ ...plain(n), dimensions: [8, 24, WIDTH][n % 3] }],
  },
  {
    name: 'user',
    traits: 'strict-fields',
    capabilities: { user: true },
    groups: (n) => [{ ...plain(n), user: `person-${n % 5}` }],
  },
  { name: 'user-kept', traits: 'refuses-user', groups: (n) => [{ ...plain(n), user: `person-${n % 5}` }] },
  {
    name: 'unknown-field',
    traits: 'plain',
    groups: (n) => [{ ...plain(n), ...(n % 2 > 0 && { task: 'x' }) }],
  },
  {
    name: 'types',
    traits: 'plain',
    entry: { binary: 'trained' },
    groups: (n) => [{ ...several(n), output_dtype: ['float', 'binary', 'ubinary'][n % 3] }],
  },
  {
    name: 'token-arrays',
    traits: 'plain',
    capabilities: { tokenArrays: true },
    groups: (n) => [{ input: n % 2 === 0 ? [[100 + n, 264, 9000], [1820 + n]] : text(n) }],
  },
  { name: 'no-usage', traits: 'no-usage', groups: (n) => [plain(n)] },
  { name: 'uncounted', traits: 'plain', capabilities: { countsTokens: false }, groups: (n) => [plain(n)] },
  { name: 'eight-inputs', traits: 'max-inputs-8', capabilities: { maxInputs: 8 }, groups: (n) => [plain(n)] },
  // More than it takes, of which Torana knows nothing: a full call leaves no room for a rider.
  { name: 'refuses-nine', traits: 'max-inputs-8', groups: (n) => [{ input: texts(n, 6 + (n % 4)) }] },
  { name: 'refuses-tokens', traits: 'max-tokens-300', groups: (n) => [{ input: text(n, 215 + (n % 14)) }] },
  {
    name: 'one-text',
    traits: 'max-inputs-1',
    capabilities: { maxInputs: 1 },
    groups: (n) => [{ input: n % 2 === 0 ? text(n) : texts(n, 3) }],
  },
  {
    name: 'refused-text',
    traits: 'plain',
    groups: (n) => [{ input: n % 3 === 0 ? [text(n), `@@refuse@@ ${n}`, text(n + 1)] : texts(n, 3) }],
  },
  {
    name: 'input-type-field',
    traits: 'plain',
    entry: {
      inputType: {
        field: 'input_type',
        values: { query: 'query', document: 'passage' },
        default: 'document',
      },
    },
    groups: (n) => [{ ...plain(n), ...(n % 3 > 0 && { input_type: ['query', 'document'][n % 2] }) }],
  },
  {
    name: 'input-type-prefix',
    traits: 'plain',
    entry: { inputType: { prefixes: { query: 'query: ', document: 'passage: ' } } },
    groups: (n) => [{ ...plain(n), ...(n % 3 > 0 && { input_type: ['query', 'document'][n % 2] }) }],
  },
  {
    name: 'cached',
    traits: 'plain',
    entry: { cache: { ttl: '1h' } },
    groups: (n) => [{ input: texts(n % 7, 3), encoding_format: formats[n % 2] }],
  },
  {
    name: 'shared-calls',
    traits: 'plain',
    entry: { microBatch: { maxWaitMs: 1000, maxItems: SHARED } },
    groups: (n) => Array.from({ length: SHARED }, (_, at) => ({ input: text(n * SHARED + at, 1 + at * 3) })),
  },
  {
    name: 'shared-calls-uncounted',
    traits: 'no-usage',
    entry: { microBatch: { maxWaitMs: 1000, maxItems: SHARED } },
    groups: (n) => Array.from({ length: SHARED }, (_, at) => ({ input: text(n * SHARED + at, 1 + at * 3) })),
  },
]

/** Texts alone, contents alone, and both. */
export async function askedModels(): Promise<readonly AskedModel[]> {
  const images = await Promise.all(
    Array.from({ length: 5 }, (_, colour) => image('png', { colour: colour * 40 })),
  )
  const uri = (n: number): string => dataUri(images[n % images.length]!)
  const contents = contentWires
    .filter(({ takes }) => takes.includes('image'))
    .map((wire): AskedModel => {
      const { played, entry } = contentModel(wire)
      const [one] = played as readonly [(typeof played)[number]]
      const { capabilities } = one.deployment as { readonly capabilities: object }
      const part = (n: number): object => ({ content: [{ type: 'image_url', image_url: { url: uri(n) } }] })
      return {
        name: `contents-${wire.name}`,
        traits: one.traits,
        wire: one.wire,
        upstream: one.upstream,
        model: wire.model,
        capabilities,
        entry: { ...(entry['embedding'] as object) },
        groups: (n) => [{ input: [[part(n)], [text(n), part(n)], [text(n), text(n + 1)]][n % 3] }],
      }
    })
  return [...TEXT_MODELS, ...contents]
}
