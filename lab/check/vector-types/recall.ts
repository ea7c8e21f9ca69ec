/** What each type keeps of the ten nearest neighbours, on sentences of documentation and the demo model. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from '../../torana.ts'
import type { DemoNode } from './demo-node.ts'

const NEAREST = 10
/** Candidates for each wanted neighbour before float vectors decide. */
const RESCORED = 4
/** Every tenth text asks; the others answer. */
const ASKS_EACH = 10
const TEXTS = 5000
const MIN_CHARACTERS = 40
const MAX_CHARACTERS = 600

/** Sentences of our own pages and of the packages that the lock file names: the same on every machine. */
export function realTexts(): readonly string[] {
  const files = globSync(['docs/**/*.md', 'node_modules/*/README.md', 'node_modules/@*/*/README.md'], {
    cwd: REPOSITORY,
  }).toSorted()
  const texts = new Set<string>()
  for (const file of files)
    for (const block of readFileSync(join(REPOSITORY, file), 'utf8').split(/\n\s*\n|\n[-*] /))
      for (const sentence of block.replaceAll(/\s+/g, ' ').split(/(?<=[.!?]) (?=[A-Z])/)) {
        const text = sentence.trim()
        const isProse = /^[A-Z]/.test(text) && /[.!?:]$/.test(text)
        if (isProse && text.length >= MIN_CHARACTERS && text.length <= MAX_CHARACTERS) texts.add(text)
      }
  if (texts.size < TEXTS) throw new Error(`${texts.size} sentences were found, ${TEXTS} are needed`)
  return [...texts].slice(0, TEXTS)
}

export interface Recall {
  readonly type: string
  /** Bytes of a vector. */
  readonly bytes: number
  readonly recall: number
}

type Score = (one: number, other: number) => number

export async function measuredRecall(node: DemoNode, texts: readonly string[]): Promise<readonly Recall[]> {
  const made = await node.vectorsOf(texts, ['float', 'float16', 'ubinary'])
  const buffers = (type: string): readonly Uint8Array<ArrayBuffer>[] =>
    (made.get(type) ?? []).map((bytes) => new Uint8Array(bytes))
  const float = buffers('float').map(({ buffer }) => new Float32Array(buffer))
  const half = buffers('float16').map(({ buffer }) => Float32Array.from(new Float16Array(buffer)))
  const bits = buffers('ubinary')
  const byFloat = cosineOf(float)
  const byBits: Score = (one, other) => -hamming(bits[one] ?? bits[0]!, bits[other] ?? bits[0]!)
  const width = float[0]?.length ?? 0
  const truth = queriesOf(texts).map((query) => nearest(texts.length, query, byFloat, NEAREST))
  const recallOf = (find: (query: number) => readonly number[]): number => {
    const kept = queriesOf(texts).map((query, index) => {
      const own = new Set(find(query))
      return (truth[index] ?? []).filter((one) => own.has(one)).length
    })
    return kept.reduce((sum, count) => sum + count, 0) / (truth.length * NEAREST)
  }
  const plain = (score: Score) => (query: number) => nearest(texts.length, query, score, NEAREST)
  const rescored = (score: Score) => (query: number) =>
    nearest(texts.length, query, score, NEAREST * RESCORED)
      .toSorted((one, other) => byFloat(query, other) - byFloat(query, one))
      .slice(0, NEAREST)
  return [
    { type: 'float', bytes: width * 4, recall: 1 },
    { type: 'float16', bytes: width * 2, recall: recallOf(plain(cosineOf(half))) },
    { type: 'binary', bytes: width / 8, recall: recallOf(plain(byBits)) },
    { type: 'binary-rescored', bytes: width / 8, recall: recallOf(rescored(byBits)) },
  ]
}

function queriesOf(texts: readonly string[]): readonly number[] {
  return Array.from({ length: Math.floor(texts.length / ASKS_EACH) }, (_, index) => index * ASKS_EACH)
}

/** The best of all others; equal scores in the order of the texts. */
function nearest(count: number, query: number, score: Score, wanted: number): readonly number[] {
  const scored: (readonly [score: number, index: number])[] = []
  for (let index = 0; index < count; index += 1)
    if (index !== query) scored.push([score(query, index), index])
  return scored
    .toSorted(([one, first], [other, second]) => other - one || first - second)
    .slice(0, wanted)
    .map(([, index]) => index)
}

function cosineOf(vectors: readonly Float32Array[]): Score {
  const lengths = vectors.map((vector) => Math.sqrt(dot(vector, vector)))
  return (one, other) =>
    dot(vectors[one] ?? EMPTY, vectors[other] ?? EMPTY) / ((lengths[one] ?? 1) * (lengths[other] ?? 1))
}

const EMPTY = new Float32Array(0)

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let index = 0; index < one.length; index += 1) sum += (one[index] as number) * (other[index] as number)
  return sum
}

const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length)

function hamming(one: Uint8Array, other: Uint8Array): number {
  let bits = 0
  for (let index = 0; index < one.length; index += 1)
    bits += ONES[(one[index] as number) ^ (other[index] as number)] as number
  return bits
}
