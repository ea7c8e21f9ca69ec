import { Refusal } from '../fake-provider/wire.ts'
import type { SentenceModel } from './model.ts'

const batchSizes = [1, 8, 16, 32, 64]

/** Of each size: enough that one slow run changes nothing, and the whole ends within some ten seconds. */
const measuredMs = 1000
const fewestRuns = 5

/** As in a search box. A run has some 20 ms of its own, so the shorter the texts, the more a batch saves. */
export const defaultWords = 4

/** A run of 64 such texts takes some ten seconds already. */
const maxWords = 50

export function wordsOf(text: string): number {
  const words = Number(text)
  if (Number.isInteger(words) && words >= 1 && words <= maxWords) return words
  throw new Refusal(400, `'words' must be a whole number from 1 to ${maxWords}.`)
}

const vocabulary =
  'river stone window letter garden winter market signal copper forest engine harbour paper silver bridge candle'.split(
    ' ',
  )

/** Texts that all differ and have this many words each: what the ceiling is measured with. */
export function sampleTexts(count: number, words: number = defaultWords, first = 0): string[] {
  return Array.from({ length: count }, (_, position) => {
    const number = first + position
    const body = Array.from({ length: words - 1 }, (_, word) => {
      return vocabulary[(number * 7 + word * 5 + Math.floor(number / 16) * word) % vocabulary.length]
    })
    return [...body, String(number)].join(' ')
  })
}

export type CeilingRow = {
  /** Texts in one run. */
  batch: number
  runs: number
  /** Median of all runs, of the model alone. */
  runMs: number
  textsPerSecond: number
  /** The same by CPU time: the throughput of this machine without other load. */
  cpuMs: number
  textsPerCpuSecond: number
}

/** The most that any caller can get from this model on this machine, by the size of the batch. */
export async function measureCeiling(model: SentenceModel, words: number): Promise<CeilingRow[]> {
  const rows: CeilingRow[] = []
  for (const batch of batchSizes) rows.push(await measured(model, batch, words))
  return rows
}

async function measured(model: SentenceModel, batch: number, words: number): Promise<CeilingRow> {
  await model.embed(sampleTexts(batch, words)) // the first run of a shape is slower
  const runsMs: number[] = []
  const cpusMs: number[] = []
  const endMs = performance.now() + measuredMs
  while (performance.now() < endMs || runsMs.length < fewestRuns) {
    const { runMs, cpuMs } = await model.embed(sampleTexts(batch, words, runsMs.length * batch))
    runsMs.push(runMs)
    cpusMs.push(cpuMs)
  }
  const [runMs, cpuMs] = [median(runsMs), median(cpusMs)]
  const perSecond = (ms: number) => rounded((batch / ms) * 1000)
  return {
    batch,
    runs: runsMs.length,
    runMs: rounded(runMs),
    textsPerSecond: perSecond(runMs),
    cpuMs: rounded(cpuMs),
    textsPerCpuSecond: perSecond(cpuMs),
  }
}

function median(values: number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
