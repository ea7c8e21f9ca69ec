/** The fake provider and the small real model as processes. */
import { join } from 'node:path'
import { freePort } from '../server/test/support/servers.ts'
import { httpReady, spawnOn, type Started } from './processes.ts'

const PROGRAM = join(import.meta.dirname, 'fake-provider/main.ts')
const MODEL_PROGRAM = join(import.meta.dirname, 'model-server/main.ts')

export interface StartedProvider extends Started {
  /** The file to which it writes what it served. */
  readonly log: string
}

export async function startProvider(
  core: number | undefined,
  folder: string,
  niceness = 0,
): Promise<StartedProvider> {
  const port = await freePort()
  const log = join(folder, `served-${port}.jsonl`)
  const command = [process.execPath, PROGRAM, '--port', String(port), '--log', log]
  const { pid } = spawnOn(core, 'nice', ['-n', String(niceness), ...command], {})
  const origin = `http://127.0.0.1:${port}`
  await httpReady(`${origin}/_health`)
  return { pid, origin, log }
}

export async function startModelServer(core: number): Promise<Started> {
  const port = await freePort()
  const { pid } = spawnOn(core, process.execPath, [MODEL_PROGRAM, '--port', String(port)], {})
  const origin = `http://127.0.0.1:${port}`
  await httpReady(`${origin}/counters`)
  return { pid, origin }
}
