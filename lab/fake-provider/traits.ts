import { contentTraits, type ContentTrait } from './content-traits.ts'
import { isVectorKind, vectorKinds, type VectorKind } from './drift.ts'
import { editTraits, type EditTrait } from './images/edit-traits.ts'
import { imageTraits, type ImageTrait } from './images/traits.ts'
import { isKind, type MediaKind } from './media.ts'

/** What a scenario can ask for, beside the traits of pictures alone. `N` in a name stands for a number. */
export const traits = {
  plain: 'a perfect OpenAI: nothing special',

  'float-only': '400 when base64 is asked for',
  'base64-only': 'always base64; 400 when "float" is asked for',
  'ignores-encoding': 'always floats, whatever was asked',
  'refuses-float': '400 when encoding_format is "float" (Voyage)',
  'refuses-null': '400 when any field is null (DeepInfra)',
  'refuses-encoding': '400 when encoding_format is present at all',
  'refuses-dimensions': '400 when dimensions are asked for',
  'ignores-dimensions': 'always the full width',
  'unscaled-dimensions': 'shortened vectors keep the length that is left of them (Gemini)',
  'refuses-token-arrays': '400 for token arrays; refuses-token-arrays-422 answers 422',
  'refuses-user': '400 when user is present',
  'strict-fields': '400 for any field the wire does not know',
  'obeys-fields': 'fields of Jina, vLLM, TEI, Cohere and others change vectors, as obeyed-fields.ts says',
  'refuses-poison': '400 content_policy_violation when an input contains the word poison',
  'max-inputs-N': '400 for more inputs',
  'max-tokens-N': '400 for more tokens in the whole request',
  'max-input-tokens-N': '400 when one input has more tokens',
  'max-bytes-N': '413 for a larger request body (max-bytes-2000000 is TEI)',

  'wide-floats': 'numbers written as doubles (about 33 KB for 1536 values)',
  'no-usage': 'no usage in the answer',
  'extra-fields': 'adds id, created and a nested meta object',
  'other-model': 'answers name the model another-model',
  'empty-data': '200 without any vector',
  'wrong-count': 'one vector fewer than inputs',
  shuffled: 'right index fields, another order',
  'duplicate-index': 'the last item repeats the index of the first',
  nan: 'the first value of the first vector is NaN',
  infinite: 'the first value of the first vector is 1e999',
  'zero-vector': 'the first vector is all zeros',
  'wrong-width': 'every vector lacks its last value',
  'mixed-width': 'the last vector lacks its last value',
  'bad-base64': 'an illegal character in the first base64 text',
  'other-space': 'vectors of another model under the same name',
  'vectors-KIND': 'vectors of a model that has changed: the table of drift lists the kinds',
  'drifts-from-N': 'with vectors-KIND: only in calls with at least N inputs',
  'drifts-at-N': 'with vectors-KIND: only texts of exactly N bytes',

  'slow-N': 'answers after N milliseconds',
  'capacity-N':
    'at most N calls of each key at once, each for service-N; others wait, first come, first served',
  'service-N': 'with capacity-N: the milliseconds of work in each call',
  'queue-N': 'with capacity-N: 503 with retry-after: 1 when N calls wait already',
  'mode-NAME': 'behaves as POST /_mode says of NAME, at the moment of the call',
  'rate-limited-N': 'at most N calls a second for each key, else 429 with retry-after',
  'fails-first-N': 'the first N calls of each key answer 500',
  'status-N': 'an error of that status; 429 carries retry-after: 7',
  'retry-after-N': 'with status-N: retry-after of N milliseconds; retry-after-0: none',
  quota: '429 insufficient_quota',
  'content-refused': '400 content_policy_violation',
  'leaks-key': '400 whose message repeats the Authorization header',
  'error-detail': 'errors as {"detail": text}',
  'error-flat': 'errors as {"message", "code", "type"}',
  'error-string': 'errors as {"error": text}',
  'error-text': 'errors as plain text',
  'error-empty': 'errors without a body',
  'error-html': 'errors as an HTML page',

  reset: 'connection reset before any byte, nothing served',
  'serves-then-resets': 'the call is served (and counted), the connection reset before any byte',
  'half-body': 'content-length promises the whole body, half of it comes, then the connection ends',
  'half-body-chunked': 'the same without content-length',
  garbage: '200 application/json that is not JSON',
  'html-200': '200 with an HTML page',
  never: 'takes the request and never answers',
  'chunked-N': 'the body comes in chunks of N bytes',
} as const satisfies Record<string, string>

export type Trait = keyof typeof traits | ContentTrait | ImageTrait | EditTrait

export const allTraits = { ...traits, ...contentTraits, ...imageTraits, ...editTraits }

/** What one path prefix asks the server to play. */
export type Scenario = {
  name: string
  has(trait: Trait): boolean
  /** The number a trait carries, or undefined when the scenario lacks it. */
  amount(trait: Trait): number | undefined
  /** The sizes of `sizes-WxH-WxH…`; null when the scenario names none. */
  sizes: readonly string[] | null
  /** The NAME of `mode-NAME`. */
  mode: string | null
  /** The KIND of `vectors-KIND`. */
  vectors: VectorKind | null
  /** The KINDS of `takes-KINDS`; null when the scenario names none. */
  kinds: readonly MediaKind[] | null
}

export class UnknownTrait extends Error {
  constructor(word: string) {
    const kinds = vectorKinds.join(', ')
    super(
      `There is no trait "${word}". Traits: ${Object.keys(allTraits).join(', ')}, key-<any word>. KIND: ${kinds}.`,
    )
  }
}

const optionalAmounts: Partial<Record<Trait, number>> = { 'refuses-token-arrays': 400 }

export function scenarioOf(name: string): Scenario {
  return scenarioWith(name, [])
}

/** Of a trait that stands twice the last one counts, so that `added` ones win over those of the name. */
export function scenarioWith(name: string, added: readonly string[]): Scenario {
  const amounts = new Map<Trait, number>()
  let sizes: string[] | null = null
  let mode: string | null = null
  let vectors: VectorKind | null = null
  let kinds: MediaKind[] | null = null
  for (const word of [...name.split('+'), ...added]) {
    // `key-<word>` does nothing but set a scenario apart, so that tests running side by side share no counter.
    if (/^key-.+$/.test(word)) continue
    if (/^sizes(-\d+x\d+)+$/.test(word)) {
      sizes = word.split('-').slice(1)
      continue
    }
    const named = /^takes((?:-[a-z]+)+)$/.exec(word)?.[1]?.split('-').slice(1)
    if (named?.every((kind) => kind === 'text' || isKind(kind))) {
      kinds = named.filter(isKind)
      amounts.set('takes-KINDS', kinds.length)
      continue
    }
    const [trait, amount, text] = traitOf(word)
    amounts.set(trait, amount)
    if (trait === 'mode-NAME') mode = text
    if (trait === 'vectors-KIND' && isVectorKind(text)) vectors = text
  }
  const has = (trait: Trait) => amounts.has(trait)
  return { name, has, amount: (trait) => amounts.get(trait), sizes, mode, vectors, kinds }
}

function traitOf(word: string): [trait: Trait, amount: number, text: string] {
  const [, kind, text = ''] = /^(mode|vectors|takes)-([\w.-]+)$/.exec(word) ?? []
  if (kind === 'mode') return ['mode-NAME', 0, text]
  if (kind === 'vectors' && isVectorKind(text)) return ['vectors-KIND', 0, text]
  if (kind !== undefined) throw new UnknownTrait(word)
  if (isTrait(word) && !word.endsWith('-N')) return [word, optionalAmounts[word] ?? 0, '']
  const [, stem, digits] = /^(.+)-(\d+)$/.exec(word) ?? []
  if (stem !== undefined && isTrait(`${stem}-N`)) return [`${stem}-N` as Trait, Number(digits), '']
  if (stem !== undefined && isTrait(stem) && stem in optionalAmounts) return [stem, Number(digits), '']
  throw new UnknownTrait(word)
}

function isTrait(word: string): word is Trait {
  return Object.hasOwn(allTraits, word)
}
