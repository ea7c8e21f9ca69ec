/** What is asked of every wire in every shape, and what must come of it. */
import { createHash } from 'node:crypto'
import { contentVector } from '../fake-provider/contents.ts'
import type { LogEntry } from '../fake-provider/log.ts'
import { dataUri, image, wav, type SampleMedia } from '../fake-provider/sample-media.ts'
import { base64Of } from '../fake-provider/vectors.ts'
import type { Program } from './clients.ts'
import {
  kindOf,
  shapes,
  type Given,
  type GivenAddress,
  type GivenContent,
  type Shape,
} from './content-shapes.ts'
import { contentWires, maxPartBytes, type ContentWire } from './content-wires.ts'
import type { Vectors } from './judge.ts'
import type { ClientAnswer } from './run-client.ts'
import { upstreamKey } from './torana.ts'
import { wordsOf, type Verdict } from './verdict.ts'

export interface ContentRow {
  readonly name: string
  readonly wire: ContentWire
  readonly shape: Shape
}

export const contentRows: readonly ContentRow[] = contentWires.flatMap((wire) =>
  shapes.map((shape) => ({ name: `${wire.name}/${shape.name}`, wire, shape })),
)

export interface ContentCase {
  readonly name: string
  readonly row: ContentRow
  readonly contents: readonly GivenContent[]
  readonly fields: Readonly<Record<string, unknown>>
  /** Undefined: vectors are expected. */
  readonly refusal: Refusal | undefined
}

interface Refusal {
  readonly code: string
  readonly statuses: readonly number[]
}

const refusal = (code: string, ...statuses: number[]): Refusal => ({
  code,
  statuses: statuses.length === 0 ? [400] : statuses,
})

/** `client` makes the bytes and texts its own, so that the upstream's log shows whose they are. */
export async function casesOf(row: ContentRow, client: string): Promise<readonly ContentCase[]> {
  const asked = await Promise.all(
    questions.map(async (question) => {
      const name = `${row.name}/${question.name}`
      const made = await question.make(row, `${client} ${name}`)
      const fields = made === undefined ? undefined : (made.fields ?? row.shape.fields(made.contents))
      if (made === undefined || fields === undefined) return []
      return [{ name, row, fields, contents: made.contents, refusal: made.refusal }]
    }),
  )
  return asked.flat()
}

interface Made {
  readonly contents: readonly GivenContent[]
  readonly refusal?: Refusal | undefined
  /** Where the case is about the fields themselves. */
  readonly fields?: Readonly<Record<string, unknown>>
}

interface Question {
  readonly name: string
  /** Undefined: the case does not arise at this wire. */
  make(row: ContentRow, seed: string): Promise<Made | undefined>
}

const questions: readonly Question[] = [
  { name: 'image', make: async (_, seed) => ({ contents: [[await ownImage(seed)]] }) },
  {
    name: 'fused',
    make: async ({ wire }, seed) => ({
      contents: [[`a chair of ${seed}`, await ownImage(seed)]],
      refusal: wire.fuses ? undefined : refusal('parts_not_fusible'),
    }),
  },
  {
    name: 'mixed-list',
    make: async (_, seed) => ({
      contents: [[`first of ${seed}`], [await ownImage(seed)], [`last of ${seed}`]],
    }),
  },
  {
    name: 'texts-alone',
    make: async (_, seed) => ({
      contents: Array.from({ length: 5 }, (_one, index) => [`text ${index} alone of ${seed}`]),
    }),
  },
  {
    name: 'several-calls',
    make: async (_, seed) => ({
      contents: await Promise.all(
        Array.from({ length: 8 }, async (_one, index) =>
          index % 3 === 0 ? [`text ${index} of ${seed}`] : [await ownImage(`${index} of ${seed}`)],
        ),
      ),
    }),
  },
  {
    name: 'same-image-twice',
    make: async (_, seed) => {
      const one = await ownImage(seed)
      return { contents: [[one], [await ownImage(`${seed} other`)], [one]] }
    },
  },
  {
    name: 'audio',
    make: async ({ wire }, seed) => ({
      contents: [[ownAudio(seed)]],
      refusal: wire.takes.includes('audio') ? undefined : refusal('part_unsupported'),
    }),
  },
  {
    name: 'too-many-parts',
    make: async ({ wire }, seed) =>
      wire.fuses
        ? {
            contents: [
              [
                await ownImage(seed),
                ...Array.from({ length: wire.maxParts }, (_, part) => `${part} of ${seed}`),
              ],
            ],
            refusal: refusal('too_many_parts'),
          }
        : undefined,
  },
  {
    name: 'too-large',
    make: async (_, seed) => ({
      contents: [[await ownImage(seed, maxPartBytes + 1)]],
      refusal: refusal('media_too_large', 400, 413),
    }),
  },
  {
    name: 'no-image',
    make: async (_, seed) => ({
      contents: [[{ type: 'image/png', bytes: Buffer.from(`no image at all: ${seed}`) }]],
      refusal: refusal('invalid_media'),
    }),
  },
  {
    name: 'format-not-taken',
    make: async ({ wire }, seed) => {
      const format = imageFormats.find((one) => !wire.formats.includes(one))
      return format === undefined
        ? undefined
        : { contents: [[await ownImage(seed, 0, format)]], refusal: refusal('part_unsupported') }
    },
  },
  {
    name: 'declared-another-kind',
    make: async (_, seed) => ({
      contents: [[{ ...ownAudio(seed), type: 'image/png' }]],
      refusal: refusal('invalid_media'),
    }),
  },
  {
    // The bytes decide.
    name: 'declared-another-format',
    make: async (_, seed) => ({ contents: [[{ ...(await ownImage(seed)), type: 'image/webp' }]] }),
  },
  {
    name: 'address',
    make: async ({ wire }, seed) => ({
      contents: [[ownAddress(seed)]],
      refusal: wire.fetches ? undefined : refusal('part_unsupported'),
    }),
  },
  {
    name: 'address-and-bytes',
    make: async ({ wire }, seed) =>
      wire.fetches && wire.fuses
        ? {
            contents: [[ownAddress(seed), await ownImage(seed)]],
            refusal: wire.name === 'voyage' ? refusal('part_unsupported') : undefined,
          }
        : undefined,
  },
  {
    name: 'broken-base64',
    make: async (row, seed) => {
      const contents = [[await ownImage(seed)]]
      const fields = row.shape.fields(contents)
      const base64 = contents[0]?.[0]?.bytes.toString('base64') ?? ''
      if (fields === undefined) return undefined
      const broken = JSON.stringify(fields).replace(base64, `!!${base64.slice(2)}`)
      return {
        contents,
        fields: JSON.parse(broken) as Record<string, unknown>,
        refusal: refusal('invalid_media'),
      }
    },
  },
  {
    name: 'data-uri-as-text',
    make: async ({ shape }, seed) => {
      const one = await ownImage(seed)
      return shape.name === 'content' || shape.name === 'bare-parts'
        ? { contents: [[one]], fields: { input: [dataUri(one)] }, refusal: refusal('ambiguous_input') }
        : undefined
    },
  },
]

const imageFormats = ['gif', 'webp'] as const

/** An image that no other case has, of at least that many bytes. */
async function ownImage(
  seed: string,
  atLeastBytes = 0,
  format: 'png' | (typeof imageFormats)[number] = 'png',
): Promise<SampleMedia> {
  const colour = createHash('sha256').update(seed).digest().readUInt16BE()
  const { type, bytes } = await image(format, { colour })
  // Behind the end of an image anything may stand.
  const tail = Buffer.from(`own ${seed} `.repeat(1 + Math.ceil(atLeastBytes / (seed.length + 5))))
  return { type, bytes: Buffer.concat([bytes, tail]) }
}

function ownAudio(seed: string): SampleMedia {
  const { type, bytes } = wav(1)
  bytes.write(seed, 44)
  return { type, bytes }
}

function ownAddress(seed: string): GivenAddress {
  return { type: 'image/png', url: new URL(`https://media.example/${sumOf(seed)}.png`) }
}

/** Calls that had media, by the sum or the address of each. */
export type Calls = ReadonlyMap<string, readonly LogEntry[]>

export function callsIn(entries: readonly LogEntry[]): Calls {
  const calls = new Map<string, LogEntry[]>()
  for (const entry of entries)
    for (const note of entry.contents?.flat() ?? []) {
      if (note.kind === 'text') continue
      const known = calls.get(markOf(note))
      if (known === undefined) calls.set(markOf(note), [entry])
      else known.push(entry)
    }
  return calls
}

export function judgeContents(
  client: Program,
  asked: ContentCase,
  answer: ClientAnswer<Vectors>,
  calls: Calls,
): Verdict {
  const media = asked.contents.flat().filter((part) => typeof part !== 'string')
  const sent = [...new Set(media.flatMap((part) => calls.get(sumOf(part)) ?? []))]
  if (asked.refusal !== undefined) return judgeRefusal(client, asked.refusal, answer, sent)
  const wanted = asked.contents.map((content) =>
    base64Of(contentVector(content.map(rawOf), asked.row.wire.width)),
  )
  if (!answer.ok) return wrong(`${wanted.length} vectors`, wordsOf(answer.error))
  if (answer.vectors.length !== wanted.length) {
    return wrong(`${wanted.length} vectors`, `${answer.vectors.length} vectors`)
  }
  const different = wanted.findIndex((vector, index) => vector !== answer.vectors[index])
  if (different >= 0) return wrong(`the vector of content ${different}`, 'another one')
  if (answer.tokens !== undefined && !(Number.isInteger(answer.tokens) && answer.tokens > 0)) {
    return wrong('usage in tokens', String(answer.tokens))
  }
  const arrived = new Set(
    sent.filter(({ served }) => served).flatMap(({ contents = [] }) => contents.map(sumsOf)),
  )
  const missing = asked.contents
    .filter((content) => content.some((part) => typeof part !== 'string'))
    .find((content) => !arrived.has(content.map(sumOf).join(' ')))
  return missing === undefined
    ? { result: 'right' }
    : wrong("the caller's bytes upstream, by their sums", `not ${missing.map(kindOf).join('+')}`)
}

function judgeRefusal(
  client: Program,
  { code, statuses }: Refusal,
  answer: ClientAnswer<Vectors>,
  sent: readonly LogEntry[],
): Verdict {
  const wanted = `${code} with status ${statuses.join(' or ')}`
  if (answer.ok) return wrong(wanted, `${answer.vectors.length} vectors`)
  const { status, requestId, message } = answer.error
  const isRight =
    answer.error.code === code &&
    statuses.some((one) => one === status && client.errorClass(one) === answer.error.class)
  if (!isRight) return wrong(wanted, wordsOf(answer.error))
  if (!requestId) return wrong('a request id', wordsOf(answer.error))
  if (message.includes(upstreamKey)) return wrong("no word of the upstream's key", wordsOf(answer.error))
  return sent.length === 0 ? { result: 'right' } : wrong('nothing sent upstream', `${sent.length} calls`)
}

type Note = NonNullable<LogEntry['contents']>[number][number]

function rawOf(part: Given): string | Buffer | URL {
  if (typeof part === 'string') return part
  return 'url' in part ? part.url : part.bytes
}

/** An address is its own mark. */
function sumOf(part: Given): string {
  const raw = rawOf(part)
  return raw instanceof URL ? raw.href : createHash('sha256').update(raw).digest('hex')
}

function markOf(note: Note): string {
  return 'sha256' in note ? note.sha256 : note.address
}

function sumsOf(notes: readonly Note[]): string {
  return notes.map(markOf).join(' ')
}

function wrong(expected: string, got: string): Verdict {
  return { result: 'wrong', expected, got }
}
