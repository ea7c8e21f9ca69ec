/** Shared by tests of the space guard: the control API of a node, callers that never pause, and the space of each deployment. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { ADMIN_TOKEN } from '#test/support/control.ts'
import { askAt } from '#test/support/cluster.ts'
import { GATEWAY_KEY, vectorsIn, type Asked, type AskOptions, type ModelSpec } from '#test/support/gateway.ts'
import { eventually, runTorana, temporaryFolder } from '#test/support/process.ts'
import { vectorOf } from '../../../../lab/fake-provider/vectors.ts'
import { widthOf } from '../../../../lab/fake-provider/wire.ts'

export { ADMIN_TOKEN }
export const ADMIN = { TORANA_ADMIN_TOKEN: ADMIN_TOKEN }

/** The addresses of a node. */
export interface Place {
  readonly url: string
  readonly controlUrl: string
}

export interface ProbeBody {
  readonly at: string
  readonly deployment: string
  readonly space: string
  readonly verdict: 'good' | 'warned' | 'quarantined' | 'failed'
  readonly cosines: readonly number[] | null
  readonly least_cosine: number | null
  readonly norm_drift: number | null
  readonly reason: string | null
}

export interface SpaceBody {
  readonly model: string
  readonly space: string
  readonly own_space: string
  readonly shared_with: readonly string[]
  readonly generation: number
  readonly reference: { readonly deployment: string } | null
  readonly deployments: readonly {
    readonly deployment: string
    readonly state: string
    readonly reason: string | null
    readonly last_good_at: string | null
    readonly last_probe: ProbeBody | null
  }[]
}

/** A guarded model with a deployment for each name, in the order in which they are tried. */
export function guarded(names: readonly string[], rest: Partial<ModelSpec> = {}): ModelSpec {
  return { on: names.map((name) => `mode-${name}`), spaceGuard: true, ...rest }
}

export async function control<Body>(
  { controlUrl }: Place,
  method: string,
  path: string,
  body?: unknown,
): Promise<Body> {
  const answer = await fetch(`${controlUrl}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  assert.ok(answer.ok, text)
  return (text === '' ? undefined : JSON.parse(text)) as Body
}

/** By deployment, without the model's name before it. */
export async function probe(place: Place, model: string): Promise<Record<string, ProbeBody>> {
  const path = `/spaces/${model}/probe`
  const { data } = await control<{ data: readonly ProbeBody[] }>(place, 'POST', path)
  return Object.fromEntries(data.map((one) => [one.deployment.slice(model.length + 1), one]))
}

export async function verdicts(place: Place, model: string): Promise<Record<string, string>> {
  const probes = Object.entries(await probe(place, model))
  return Object.fromEntries(probes.map(([name, { verdict }]) => [name, verdict]))
}

/** Nothing is known to be wrong, and for 20 seconds no probe of a deployment in use follows. */
export async function probedGood(place: Place, model: string): Promise<void> {
  for (const verdict of Object.values(await verdicts(place, model))) assert.equal(verdict, 'good')
}

export async function spaceOfModel(place: Place, model: string): Promise<SpaceBody> {
  const { data } = await control<{ data: readonly SpaceBody[] }>(place, 'GET', '/spaces')
  return data.find((one) => one.model === model) ?? assert.fail(`${model} is not listed`)
}

export async function statesOf(place: Place, model: string): Promise<Record<string, string>> {
  const { deployments } = await spaceOfModel(place, model)
  return Object.fromEntries(
    deployments.map(({ deployment, state }) => [deployment.slice(model.length + 1), state]),
  )
}

/** Repeats the request where the machine had no time for it: these tests are about vectors. */
export async function ask(
  place: Place,
  model: string,
  input: string | readonly string[],
  options: AskOptions = {},
): Promise<Asked> {
  const answer = await askAt(place.url, { model, input }, { key: GATEWAY_KEY, ...options })
  if (answer.body.error?.code !== 'node_overloaded') return answer
  await delay(100)
  return ask(place, model, input, options)
}

export function servedBy({ headers }: Asked): string {
  return headers.get('x-torana-deployment') ?? ''
}

/** Whether all vectors of an answer are those of the model at its start, within the difference of honest copies. */
export function isRight(answer: Asked, model: string, texts: readonly string[]): boolean {
  const vectors = vectorsIn(answer)
  return texts.every((text, index) => {
    const [expected, actual] = [vectorOf(text, widthOf(model)), vectors[index] ?? new Float32Array()]
    const product = expected.reduce((sum, value, at) => sum + value * (actual[at] ?? 0), 0)
    const length = Math.hypot(...actual)
    return actual.length === expected.length && product / length > 0.99 && Math.abs(length - 1) < 0.01
  })
}

export interface Ended {
  readonly sentMs: number
  readonly status: number
  readonly code: string | undefined
  readonly isWrong: boolean
  readonly deployment: string
}

export interface Load {
  /** Resolves after this many more answers. */
  readonly answered: (more: number) => Promise<void>
  readonly stop: () => Promise<Ended[]>
}

/** Callers that ask for new texts without pause until they are stopped. */
export function beginLoad(place: Place, model: string, callers = 4): Load {
  const over = new AbortController()
  const all: Ended[] = []
  const call = async (caller: number): Promise<void> => {
    for (let count = 0; !over.signal.aborted; count += 1) {
      const texts = [`caller ${caller} asks ${count}`, `and ${count} again, ${caller}`]
      const sentMs = performance.now()
      const answer = await ask(place, model, texts)
      const { status } = answer
      const isWrong = status === 200 && !isRight(answer, model, texts)
      all.push({ sentMs, status, code: answer.body.error?.code, isWrong, deployment: servedBy(answer) })
    }
  }
  const calls = Array.from({ length: callers }, (_, caller) => call(caller))
  return {
    answered: (more) => {
      const enough = all.length + more
      return eventually(async () => assert.ok(all.length >= enough))
    },
    stop: async () => {
      over.abort()
      await Promise.all(calls)
      return all
    },
  }
}

/** `torana spaces …` of a person at a terminal. */
export async function cli({ controlUrl }: Place, ...args: readonly string[]) {
  const running = runTorana({
    folder: temporaryFolder(),
    args: ['spaces', ...args, '--url', controlUrl],
    env: ADMIN,
  })
  return { code: await running.exit, stdout: running.stdout(), stderr: running.stderr() }
}
