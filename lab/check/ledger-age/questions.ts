/** What people ask an old ledger, and how long each answer takes. */
import { ADMIN } from './stage.ts'
import { DAY_MS, type Age } from './formula.ts'
import { dayText } from './generate.ts'
import type { Torana } from '../../torana.ts'

export interface Answered {
  readonly what: string
  readonly tookMs: number
  readonly bytes: number
  /** Undefined: it is no JSON. */
  readonly body: unknown
}

/** Doctor over the whole ledger reads every file. */
const PATIENCE_MS = 3_600_000

export async function ask({ controlUrl }: Torana, what: string, path: string): Promise<Answered> {
  const startedMs = performance.now()
  const answer = await fetch(`${controlUrl}/api/v1${path}`, {
    headers: { authorization: `Bearer ${ADMIN}` },
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  const isJson = answer.headers.get('content-type')?.includes('json') === true && !path.includes('export')
  let bytes = 0
  const kept: Uint8Array[] = []
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length
    if (isJson || answer.status !== 200) kept.push(chunk)
  }
  const tookMs = performance.now() - startedMs
  const text = Buffer.concat(kept).toString()
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`)
  return { what, tookMs, bytes, body: isJson ? JSON.parse(text) : undefined }
}

/** Questions of the console, over all days of the age. */
export async function reports(node: Torana, age: Age): Promise<readonly Answered[]> {
  const from = new Date(age.firstDayMs).toISOString()
  const to = new Date(age.firstDayMs + age.days * DAY_MS).toISOString()
  const lastDay = new Date(age.firstDayMs + (age.days - 1) * DAY_MS).toISOString()
  const asked: Answered[] = []
  for (const [what, path] of [
    ['usage of all days by model', `/usage?by=model&slot=day&from=${from}&to=${to}`],
    ['usage of all days by project', `/usage?by=project&slot=day&from=${from}&to=${to}`],
    ['usage of all days by key', `/usage?by=key&slot=day&from=${from}&to=${to}`],
    ['usage of all days by user', `/usage?by=user&slot=day&from=${from}&to=${to}`],
    ['usage of the last day by hour', `/usage?by=model&slot=hour&from=${lastDay}&to=${to}`],
    ['overview', '/overview'],
    ['budgets', '/budgets'],
    ['unknowns', '/unknowns'],
  ] as const)
    asked.push(await ask(node, what, path))
  return asked
}

/** Every entry of one day, as NDJSON. */
export function exportOf(node: Torana, what: string, dayMs: number): Promise<Answered> {
  const [from, to] = [dayText(dayMs), dayText(dayMs + DAY_MS)].map((day) => `${day}T00:00:00.000Z`)
  return ask(node, what, `/usage/export?rows=ledger&format=ndjson&from=${from}&to=${to}`)
}
