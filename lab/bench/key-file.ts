/** The packed key file alone, with keys that no store has: time, CPU and bytes by the number of keys. */
import { hash } from 'node:crypto'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { KeyRecord } from '../../server/src/ports/key-store.ts'
import { PackedKeyFile } from '../../server/src/stores/key-file/key-file.ts'

/** On a busy machine CPU time is the better figure. */
export interface Took {
  readonly seconds: number
  readonly cpuSeconds: number
}

export interface KeyFileFigures {
  readonly keys: number
  readonly bytes: number
  /** With the making of the keys. */
  readonly pack: Took
  readonly open: Took
  /** CPU of a look-up of a key that was not used lately. */
  readonly findUs: number
  readonly missUs: number
  readonly byIdUs: number
  /** With ten thousand changes. */
  readonly fold: Took
  readonly residentMegabytes: number
}

const PAGE_KEYS = 1000
const LOOK_UPS = 200_000
const CHANGES = 10_001
const PROJECTS = 1000
const MEGABYTE = 1024 * 1024

export async function measureKeyFile(folder: string, keys: number): Promise<KeyFileFigures> {
  mkdirSync(folder, { recursive: true })
  const file = new PackedKeyFile({
    folder,
    keys: [Buffer.alloc(32, 7)],
    onTrouble(trouble) {
      throw trouble
    },
  })
  const state = { version: BigInt(keys), mark: 'bench', verifiedAtMs: Date.now() }
  const [packed, pack] = await timed(() =>
    file.pack(state, { projects: projectPages, keys: () => keyPages(keys) }),
  )
  packed.close()
  const { size: bytes } = statSync(join(folder, 'keys.packed'))
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  const [opened, open] = await timed(() => file.open())
  if (opened === undefined) throw new Error('there is no key file')
  const pick = (): number => Math.floor(Math.random() * keys)
  const findUs = cpuUs(() => opened.packed.find(digestOf(pick())) ?? missing())
  const missUs = cpuUs(() => opened.packed.find(digestOf(keys + pick())) === undefined || missing())
  const byIdUs = cpuUs(() => opened.packed.keyOfId(recordOf(pick()).id) ?? missing())
  const residentMegabytes = (process.memoryUsage.rss() - before) / MEGABYTE
  const changed = Array.from({ length: CHANGES }, (_, index) => ({
    ...recordOf(index),
    version: BigInt(keys + index),
  }))
  const later = { ...state, version: BigInt(keys + CHANGES) }
  const [folded, fold] = await timed(() => file.save(opened.packed, later, { keys: changed, projects: [] }))
  opened.packed.close()
  folded?.close()
  return { keys, bytes, pack, open, findUs, missUs, byIdUs, fold, residentMegabytes }
}

function missing(): never {
  throw new Error('a key was not found')
}

async function timed<Result>(work: () => Promise<Result>): Promise<readonly [Result, Took]> {
  const [startedMs, before] = [performance.now(), process.cpuUsage()]
  const result = await work()
  const { user, system } = process.cpuUsage(before)
  return [
    result,
    { seconds: (performance.now() - startedMs) / 1000, cpuSeconds: (user + system) / 1_000_000 },
  ]
}

/** Without what the choice of a key costs. */
function cpuUs(lookUp: () => unknown): number {
  const measure = (work: () => unknown): number => {
    const before = process.cpuUsage()
    for (let count = 0; count < LOOK_UPS; count += 1) work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / LOOK_UPS
  }
  const choice = measure(() => digestOf(Math.floor(Math.random() * 1e6)))
  return measure(lookUp) - choice
}

function digestOf(index: number): string {
  return hash('sha256', `digest ${index}`, 'base64')
}

function recordOf(index: number): KeyRecord {
  const project = `project-${index % PROJECTS}`
  return {
    id: `${project}/key-${index}`,
    project,
    name: `key-${index}`,
    models: undefined,
    // As in practice: few sets of terms, shared by many keys.
    limits: index % 4 === 0 ? { requestsPerMinute: 60 + (index % 7) * 60 } : {},
    budget: index % 2 === 0 ? { limitNanoUsd: 50_000_000_000n, per: 'month', hard: true } : undefined,
    expiresAtMs: undefined,
    revokedAtMs: undefined,
    lastUsedAtMs: undefined,
    createdAtMs: 0,
    projectTerms: { limits: {}, budget: undefined },
    secrets: [{ digest: digestOf(index), pepper: 'none', tail: '', validUntilMs: undefined, createdAtMs: 0 }],
    version: 1n,
  }
}

async function* projectPages() {
  yield Array.from({ length: PROJECTS }, (_, index) => ({
    name: `project-${index}`,
    limits: {},
    budget: undefined,
    version: 1n,
  }))
}

async function* keyPages(keys: number) {
  for (let from = 0; from < keys; from += PAGE_KEYS)
    yield Array.from({ length: Math.min(PAGE_KEYS, keys - from) }, (_, index) => recordOf(from + index))
}
