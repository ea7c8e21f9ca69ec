/** The questions of a console: every GET route of the contract, with the parameters that its pages use. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const CONTRACT = join(import.meta.dirname, '../../contract/control.openapi.json')
const DAY_MS = 86_400_000

/** Names and ids that exist in the database that is asked. */
export interface Samples {
  readonly nowMs: number
  readonly project: string
  /** Of that project, without it. */
  readonly key: string
  readonly requestId: string
  /** The largest. */
  readonly batchId: string
  readonly model: string
  readonly deployment: string
}

/** Routes that are no question of a page, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  '/api/v1/alerts/incidents/{id}': 'there is no incident in invented data',
  '/api/v1/events': 'a stream, which lasts as long as a page is open',
  '/api/v1/audit/export': 'a file, as long as the audit',
  '/api/v1/configuration/changes/{id}/reverse': 'there is no change in invented data',
  '/api/v1/configuration/export': 'a file, with all keys',
  '/api/v1/usage/export': 'a file, as long as the ledger',
  '/api/v1/session/oidc': 'a redirect to an identity provider',
  '/api/v1/session/oidc/callback': 'a redirect from an identity provider',
  '/api/v1/doctor': 'adds the ledger up again, and has a minute for it',
  '/api/v1/assets/{id}/content': 'a picture, from the store of pictures',
  '/api/v1/spaces/suspects/{id}/vectors': 'there is no suspect window in invented data',
  '/api/v1/batches/{id}/output': 'a file, as long as the batch',
  '/api/v1/batches/{id}/errors': 'a file, as long as the batch',
}

type Questions = Readonly<Record<string, readonly string[]>>

function questionsFor({ nowMs, project, key, requestId, batchId, model, deployment }: Samples): Questions {
  const monthAgo = new Date(nowMs - 30 * DAY_MS).toISOString()
  const dayAgo = new Date(nowMs - DAY_MS).toISOString()
  const segment = encodeURIComponent
  const month = `from=${monthAgo}`
  const day = `from=${dayAgo}`
  return {
    '/api/v1/projects': ['?limit=1000'],
    '/api/v1/keys': [
      '',
      `?project=${project}`,
      `?project=${project}&limit=1000`,
      '?q=key-99',
      '?sort=-used',
      '?sort=ends',
    ],
    '/api/v1/keys/{project}/{name}': [`/../${project}/${key}`],
    '/api/v1/usage': [
      '?before=1',
      '?by=deployment&before=1',
      '?by=project&before=1',
      '?by=key&before=1',
      `?by=key&project=${project}&before=1`,
      `?only=model:${segment(model)}&before=1`,
      `?slot=hour&${day}`,
    ],
    '/api/v1/alerts/incidents': ['', '?state=open'],
    '/api/v1/budgets': ['', '?scope=key', `?project=${project}`],
    '/api/v1/budgets/{id}': [
      `/../${segment(`project:${project}`)}`,
      `/../${segment(`key:${project}/${key}`)}`,
    ],
    '/api/v1/budgets/{id}/series': [`/../../${segment(`project:${project}`)}/series`],
    '/api/v1/unknowns': ['', '?state=resolved'],
    '/api/v1/price-changes': [`?${month}`],
    '/api/v1/models': ['', '?sort=p95'],
    '/api/v1/models/{id}': [`/../${segment(model)}`],
    '/api/v1/routing/{model}': [`/../${segment(model)}`],
    '/api/v1/deployments/{id}': [`/../${segment(deployment)}`],
    '/api/v1/deployments/{id}/history': [`/../../${segment(deployment)}/history`],
    '/api/v1/spaces/{model}/slots': [`/../../${segment(model)}/slots`],
    '/api/v1/spaces/{model}/series': [`/../../${segment(model)}/series`],
    '/api/v1/requests': [
      `?${day}`,
      `?${month}`,
      `?${month}&outcome=failed`,
      `?${month}&project=${project}`,
      `?${day}&model=${segment(model)}`,
      `?${day}&sort=-duration`,
    ],
    '/api/v1/requests/histogram': [`?${day}`, `?${month}`, `?${month}&outcome=failed`],
    '/api/v1/requests/{id}': [`/../${requestId}`],
    '/api/v1/resolve': [`?q=${requestId}`, '?q=key-99', '?q=gpt'],
    '/api/v1/overview': [''],
    '/api/v1/image-jobs': [''],
    '/api/v1/batches': ['', '?state=open', `?project=${project}`],
    '/api/v1/batches/{id}': [`/../${batchId}`],
    '/api/v1/webhook-events': [''],
  }
}

export interface Question {
  readonly route: string
  /** Below the address of the control listener. */
  readonly path: string
}

/** Throws when the contract has a GET route without a question. */
export function consoleQuestions(samples: Samples): readonly Question[] {
  const { paths } = JSON.parse(readFileSync(CONTRACT, 'utf8')) as { paths: Record<string, { get?: unknown }> }
  const known = questionsFor(samples)
  return Object.entries(paths).flatMap(([route, { get }]) => {
    if (get === undefined || LEFT_OUT[route] !== undefined) return []
    const asked = known[route] ?? (route.includes('{') ? undefined : [''])
    if (asked === undefined)
      throw new Error(
        `${route} has parameters: say in lab/bench/console-questions.ts how it is asked, or why not`,
      )
    return asked.map((more) => ({ route, path: pathOf(route, more) }))
  })
}

/** `/../x` replaces the last part of the route. */
function pathOf(route: string, more: string): string {
  const ups = /^(?:\/\.\.)+/.exec(more)?.[0] ?? ''
  const parts = route.split('/')
  // The name of a route with parameters ends before the first one.
  const first = parts.findIndex((part) => part.startsWith('{'))
  return ups === '' ? `${route}${more}` : `${parts.slice(0, first).join('/')}${more.slice(ups.length)}`
}

export interface Measured extends Question {
  readonly status: number
  readonly medianMs: number
  readonly bytes: number
}

/** The median of five, after one that warms up. */
export async function measure(
  origin: string,
  token: string,
  questions: readonly Question[],
): Promise<readonly Measured[]> {
  const measured: Measured[] = []
  for (const question of questions) {
    const timesMs: number[] = []
    let status = 0
    let bytes = 0
    for (let round = 0; round < 6; round += 1) {
      const startedMs = performance.now()
      const answer = await fetch(`${origin}${question.path}`, {
        headers: { authorization: `Bearer ${token}` },
      })
      bytes = (await answer.arrayBuffer()).byteLength
      status = answer.status
      if (round > 0) timesMs.push(performance.now() - startedMs)
    }
    const medianMs = timesMs.toSorted((left, right) => left - right)[2] ?? Number.NaN
    measured.push({ ...question, status, medianMs, bytes })
  }
  return measured
}
