/** Malicious images, sent to a gateway one after another: the cost of each. */
import { setTimeout as wait } from 'node:timers/promises'
import { sendEdit } from '../../server/test/support/large-edits.ts'
import { BOMBS, type Bomb } from '../../server/test/support/picture-bombs.ts'
import { EDITS_MODEL, MEGABYTE, type Stage } from './edit-stage.ts'
import { print } from '../report.ts'

const AIM_CPU_MS = 50
const AIM_GROWTH_BYTES = 50 * MEGABYTE
/** The gateway's work after its answer counts as well. */
const SETTLE_MS = 100
const IDLE_MS = 2000

interface Cost {
  readonly isRefused: boolean
  readonly answer: string
  readonly cpuMs: number
  readonly growthBytes: number
  readonly sentBytes: number
  readonly readBytes: number
}

export interface Rounds {
  readonly rounds: number
  /** Whether the goal of CPU time counts: once is not enough to distinguish a bomb from a garbage collection. */
  readonly areTimed: boolean
}

/** Whether all aims that count were met. */
export async function measureBombs(stage: Stage, { rounds, areTimed }: Rounds): Promise<boolean> {
  // Once unmeasured: the first ones also compile the code.
  for (const bomb of BOMBS) await costOf(bomb, stage, 0)
  const idleShare = await idleCpuShare(stage)
  const rows: string[][] = []
  let isKept = true
  for (const bomb of BOMBS) {
    const costs: Cost[] = []
    for (let round = 0; round < rounds; round += 1) costs.push(await costOf(bomb, stage, idleShare))
    // The middle one for time, of which a neighbour's work may be a part; the worst for memory.
    const middle = costs.toSorted((a, b) => a.cpuMs - b.cpuMs)[Math.floor(rounds / 2)] as Cost
    const growthBytes = Math.max(...costs.map((cost) => cost.growthBytes))
    const isMet =
      costs.every(({ isRefused }) => isRefused) &&
      (!areTimed || middle.cpuMs < AIM_CPU_MS) &&
      growthBytes < AIM_GROWTH_BYTES
    isKept &&= isMet
    rows.push([
      bomb.what,
      middle.answer,
      middle.cpuMs.toFixed(1),
      Math.max(...costs.map(({ cpuMs }) => cpuMs)).toFixed(1),
      (growthBytes / MEGABYTE).toFixed(1),
      bomb.decidedAfterBytes === undefined ? 'its end' : kilobytes(bomb.decidedAfterBytes),
      kilobytes(middle.sentBytes),
      kilobytes(middle.readBytes),
      isMet ? 'ok' : 'MISSED',
    ])
  }
  process.stdout.write(
    `\nC. Bombs, each ${rounds} times. Aims: refused in its own words, CPU < ${AIM_CPU_MS} ms (the middle one${areTimed ? '' : ', which does not count here'}), memory < ${AIM_GROWTH_BYTES / MEGABYTE} MB\n`,
  )
  const titles = [
    'bomb',
    'answer',
    'CPU ms',
    'most',
    'growth MB',
    'known after',
    'sent',
    'read by gateway',
    '',
  ]
  print([titles, ...rows])
  return isKept
}

async function costOf(bomb: Bomb, { url, key, watch }: Stage, idleShare: number): Promise<Cost> {
  const pictures = [{ pieces: [bomb.bytes()] }]
  watch.resetPeak()
  const residentBytes = watch.residentBytes()
  const readBefore = watch.readBytes()
  const { cpuMs: cpuBeforeMs } = await watch.probe()
  const startedMs = performance.now()
  const answer = await sendEdit({ url, key, model: EDITS_MODEL, prompt: 'A bomb', pictures })
  await wait(SETTLE_MS)
  const { cpuMs } = await watch.probe()
  const idleMs = (performance.now() - startedMs) * idleShare
  const { code, message } = faultOf(answer.text)
  const words = /^image (.*)\.$/.exec(message)?.[1] ?? ''
  return {
    isRefused: answer.status === 400 && code === 'invalid_image_file' && bomb.words.test(words),
    answer: `${answer.status} ${code}`,
    cpuMs: Math.max(0, cpuMs - cpuBeforeMs - idleMs),
    growthBytes: Math.max(0, watch.peakBytes() - residentBytes),
    sentBytes: answer.sentBytes,
    readBytes: watch.readBytes() - readBefore,
  }
}

async function idleCpuShare({ watch }: Stage): Promise<number> {
  const { cpuMs: beforeMs } = await watch.probe()
  await wait(IDLE_MS)
  return ((await watch.probe()).cpuMs - beforeMs) / IDLE_MS
}

function faultOf(text: string): { readonly code: string; readonly message: string } {
  const { error } = JSON.parse(text) as { error?: { code: string; message: string } }
  return error ?? { code: '', message: '' }
}

function kilobytes(bytes: number): string {
  return bytes < 10_240 ? `${bytes} B` : `${Math.round(bytes / 1024)} KB`
}
