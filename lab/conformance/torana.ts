/** One Torana for the whole matrix, configured with every model of every row, as its operator would start it. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bareEnvironment, PROGRAM } from '../../server/test/support/process.ts'
import { newTorana } from '../torana.ts'
import { cacheFolder } from './folders.ts'
import type { ModelEntry, Played, Row } from './rows.ts'

export interface Torana {
  /** What clients are given. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly stop: () => Promise<void>
}

/** Short, because one row waits for it; long enough for the largest answer on a busy machine. */
const attemptTimeoutMs = 6_000
/**
 * An upstream that never answers has one call at a time after a dozen time-outs. Two clients ask at once, so that one of them
 * waits for the other's time-out.
 */
const queueWaitMs = 2 * attemptTimeoutMs

/** What upstreams are sent. It looks like no well-known provider's keys, and no error may repeat it. */
export const upstreamKey = 'harbour-lantern-27'

/** `common` is said of every model. */
export function configFor(
  rows: readonly Pick<Row, 'models'>[],
  providerUrl: string,
  common: object = {},
): object {
  const upstreams: Record<string, unknown> = {}
  const models: Record<string, unknown> = {}
  for (const [id, model] of rows.flatMap((row) => Object.entries(row.models))) {
    const deployments = deploymentsOf(id, model, providerUrl, upstreams)
    models[id] = { ...common, ...model.entry, deployments }
  }
  return { upstreams, models, limits: { attemptTimeoutMs, queueWaitMs } }
}

function deploymentsOf(
  id: string,
  { played }: ModelEntry,
  providerUrl: string,
  upstreams: Record<string, unknown>,
): object[] {
  return played.map((one, priority) => {
    const name = `${id.replaceAll('+', '.')}-${priority}`
    upstreams[name] = { ...one.upstream, baseUrl: addressOf(one, providerUrl), apiKey: upstreamKey }
    return { model: 'embed', ...one.deployment, upstream: name, priority }
  })
}

export function addressOf({ traits, wire }: Played, providerUrl: string): string {
  return `${providerUrl}/${traits}/${wire}`
}

/** Nothing of the caller's environment but this: keys, addresses and proxies set there would change what is tested. */
export function clientEnvironment(): Record<string, string | undefined> {
  return { ...bareEnvironment(), HOME: process.env['HOME'] }
}

/** Its log is written to the cache folder under that name. */
export async function startTorana(config: object, logName: string): Promise<Torana> {
  const folder = mkdtempSync(join(tmpdir(), 'torana-conformance-'))
  const apiKey = execFileSync(process.execPath, [PROGRAM, 'key'], {
    env: bareEnvironment(),
    encoding: 'utf8',
  }).trim()
  const logFile = join(cacheFolder, logName)
  rmSync(logFile, { force: true })
  const torana = await newTorana({ folder, config, logFile, env: { TORANA_BOOTSTRAP_KEY: apiKey } })
  const stop = async (): Promise<void> => {
    await torana.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await torana.start()
  } catch (error) {
    await stop()
    throw error
  }
  return { baseUrl: `${torana.url}/v1`, apiKey, stop }
}
