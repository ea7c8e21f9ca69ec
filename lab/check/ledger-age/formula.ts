/**
 * The ledger of the proof as a formula: what entry `index` of a day says, and the sums of each hour. It shares no code with the server
 * and none with the SQL that writes the same entries (`generate.ts`).
 */

export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000
const HOURS_OF_DAY = 24

export const KEYS = 200
export const PROJECTS = 20
/** Writers that count in separate rows of the rollups. */
const SHARDS = 4
export const MODELS = [
  'text-embedding-3-small',
  'text-embedding-3-large',
  'BAAI/bge-m3',
  'voyage-3.5',
  'embed-v4.0',
  'gpt-image-2',
  'flux-2-pro',
  'gemini-3-pro-image',
  'Qwen/Qwen3-Embedding-8B',
  'mistral-embed',
] as const
export const IMAGE_MODELS = { first: 5, last: 7 } as const
export const UPSTREAMS = ['azure-eu', 'openai'] as const
export const NANO_PER_TOKEN = 20
export const SAVED_NANO_PER_TOKEN = 5
export const NANO_PER_IMAGE = 40_000_000

/** Remainders by which entries are chosen. Primes and neighbours of them, so that every case meets every key and model. */
export const RULES = {
  sizes: 3989,
  hits: 63,
  /** An unknown, and the entry after it, which resolves it for half of what was reserved. */
  resolved: { every: 4999, unknown: 17, post: 18 },
  /** An unknown that the worker posts after a week. */
  open: { every: 99_991, at: 29 },
  unpriced: { every: 997, at: 5 },
  cached: { every: 10, at: 3 },
  labelled: { every: 49, at: 1 },
  otherModel: { every: 11, at: 0 },
  firstUpstream: { every: 3, at: 0 },
  shardRows: 1000,
} as const

export interface Age {
  /** Midnight, UTC. */
  readonly firstDayMs: number
  readonly days: number
  readonly rowsPerDay: number
}

/** The columns of a rollup, in the order of their sums. */
export const SUMS = [
  'posts',
  'unknowns',
  'tokens',
  'images',
  'amount_nano',
  'unpriced',
  'requests',
  'hits',
  'saved_nano',
  'unknown_nano',
] as const
export type Sum = (typeof SUMS)[number]
const POSTS = SUMS.indexOf('posts')
const UNKNOWNS = SUMS.indexOf('unknowns')
const TOKENS = SUMS.indexOf('tokens')
const IMAGES = SUMS.indexOf('images')
const AMOUNT = SUMS.indexOf('amount_nano')
const UNPRICED = SUMS.indexOf('unpriced')
const REQUESTS = SUMS.indexOf('requests')
const HITS = SUMS.indexOf('hits')
const SAVED = SUMS.indexOf('saved_nano')
const UNKNOWN_NANO = SUMS.indexOf('unknown_nano')

/** What entries are counted by, in the order of `cellOf`. */
export interface Cell {
  readonly hour: number
  readonly key: number
  readonly model: number
  readonly upstream: number
  readonly shard: number
  readonly isLabelled: boolean
}

const CELLS_OF_HOUR = KEYS * 2 * UPSTREAMS.length * SHARDS * 2
export const CELLS = HOURS_OF_DAY * CELLS_OF_HOUR

/** The sums of one day: for each cell those of `SUMS`, all of them below 2^53. */
export interface DaySums {
  readonly sums: Float64Array
  readonly entries: number
  /** Unknowns that the worker has to post, with the cell of each. */
  readonly open: readonly { readonly cell: number; readonly nano: number }[]
}

/** Milliseconds since midnight. */
function momentOf(index: number, rowsPerDay: number): number {
  return Math.floor((index * DAY_MS) / rowsPerDay)
}

export function daySums({ rowsPerDay }: Age, day: number): DaySums {
  const sums = new Float64Array(CELLS * SUMS.length)
  const open: { cell: number; nano: number }[] = []
  const { resolved, unpriced, cached, labelled, otherModel, firstUpstream } = RULES
  for (let index = 0; index < rowsPerDay; index += 1) {
    const isResolution = index % resolved.every === resolved.post
    // The resolution is about the entry before it, and counts where that one does.
    const about = isResolution ? index - 1 : index
    const isResolved = about % resolved.every === resolved.unknown
    const isOpen = !isResolved && index % RULES.open.every === RULES.open.at
    const isPlain = !isResolved && !isOpen
    const number = day * rowsPerDay + about
    const key = number % KEYS
    const isOther = number % otherModel.every === otherModel.at ? 1 : 0
    const model = (key + 3 * isOther) % MODELS.length
    const isImage = model >= IMAGE_MODELS.first && model <= IMAGE_MODELS.last
    const size = 1 + (number % RULES.sizes)
    const nano = isImage ? NANO_PER_IMAGE : size * NANO_PER_TOKEN
    const upstream = number % firstUpstream.every === firstUpstream.at ? 0 : 1
    const shard = Math.floor(number / RULES.shardRows) % SHARDS
    const isLabelled = isPlain && number % labelled.every === labelled.at ? 1 : 0
    const hour = Math.floor(momentOf(about, rowsPerDay) / HOUR_MS)
    const cell =
      ((((hour * KEYS + key) * 2 + isOther) * UPSTREAMS.length + upstream) * SHARDS + shard) * 2 + isLabelled
    const at = cell * SUMS.length
    const add = (sum: number, value: number): void => {
      sums[at + sum] = (sums[at + sum] ?? 0) + value
    }
    if (isResolution || isPlain) {
      add(POSTS, 1)
      if (isImage) add(IMAGES, 1)
      else add(TOKENS, size)
    }
    if (isResolution) {
      add(AMOUNT, Math.floor(nano / 2) - nano)
      add(UNKNOWNS, -1)
      add(UNKNOWN_NANO, -nano)
      continue
    }
    add(REQUESTS, 1)
    if (!isPlain) {
      add(AMOUNT, nano)
      add(UNKNOWNS, 1)
      add(UNKNOWN_NANO, nano)
      if (isOpen) open.push({ cell, nano })
      continue
    }
    if (number % unpriced.every === unpriced.at) add(UNPRICED, 1)
    else add(AMOUNT, nano)
    if (number % cached.every === cached.at) {
      add(HITS, 1 + (number % RULES.hits))
      add(SAVED, size * SAVED_NANO_PER_TOKEN)
    }
  }
  return { sums, entries: rowsPerDay, open }
}

/** The day once the worker has posted its open unknowns at the reserved amount. */
export function settled({ sums, entries, open }: DaySums): DaySums {
  const after = sums.slice()
  for (const { cell, nano } of open) {
    const at = cell * SUMS.length
    after[at + POSTS] = (after[at + POSTS] ?? 0) + 1
    after[at + UNKNOWNS] = (after[at + UNKNOWNS] ?? 0) - 1
    after[at + UNKNOWN_NANO] = (after[at + UNKNOWN_NANO] ?? 0) - nano
  }
  return { sums: after, entries: entries + open.length, open: [] }
}

export function cellOf(cell: number): Cell {
  let rest = cell
  const next = (count: number): number => {
    const value = rest % count
    rest = Math.floor(rest / count)
    return value
  }
  const isLabelled = next(2) === 1
  const shard = next(SHARDS)
  const upstream = next(UPSTREAMS.length)
  const isOther = next(2)
  const key = next(KEYS)
  return { hour: rest, key, model: (key + 3 * isOther) % MODELS.length, upstream, shard, isLabelled }
}

export const projectOf = (key: number): string => `project-${key % PROJECTS}`
export const keyIdOf = (key: number): string => `${projectOf(key)}/key-${key}`
export const modelOf = (model: number): string => MODELS[model] ?? ''
export const deploymentOf = (model: number, upstream: number): string =>
  `${modelOf(model)}/${UPSTREAMS[upstream] ?? ''}`
export const userOf = (key: number): string => `user-${key}`

/** Sums by name, to the nano-dollar. */
export class Totals {
  readonly #sums = new Map<string, bigint[]>()

  /** Adds the cells of a day, each under the name that it has; undefined: it is left out. */
  add({ sums }: DaySums, nameOf: (cell: Cell) => string | undefined): void {
    for (let cell = 0; cell < CELLS; cell += 1) {
      const own = sums.subarray(cell * SUMS.length, (cell + 1) * SUMS.length)
      if (own.every((value) => value === 0)) continue
      const name = nameOf(cellOf(cell))
      if (name === undefined) continue
      const total = this.#sums.get(name) ?? SUMS.map(() => 0n)
      own.forEach((value, sum) => (total[sum] = (total[sum] ?? 0n) + BigInt(value)))
      this.#sums.set(name, total)
    }
  }

  of(name: string, sum: Sum): bigint {
    return this.#sums.get(name)?.[SUMS.indexOf(sum)] ?? 0n
  }

  names(): readonly string[] {
    return [...this.#sums.keys()]
  }
}
