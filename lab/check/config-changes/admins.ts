/** Admins who change the same pairs of models at any node, and remember what each answer said. */
import type { Torana } from '../../torana.ts'

export const ADMIN = 'admin-token-of-the-lab-0001'

export interface Attempt {
  /** The weight that it gives both models of a pair: no other attempt has it. */
  readonly stamp: number
  readonly pair: number
  /** `unknown`: the answer was lost, or says that the change may have been made. */
  outcome: 'saved' | 'stale' | 'refused' | 'unknown'
  id: string | undefined
}

export const modelsOf = (pair: number): readonly [string, string] => [
  `pair-${pair}-a-w8`,
  `pair-${pair}-b-w8`,
]

interface Routing {
  readonly revision: string
  readonly entry: Readonly<Record<string, unknown>>
  readonly deployments: readonly { readonly weight: number }[]
}

export async function asked(node: Torana, method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${node.controlUrl}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(15_000),
  })
}

export async function routingAt(node: Torana, model: string): Promise<Routing> {
  const answer = await asked(node, 'GET', `/routing/${model}`)
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Routing
}

/** One change of both models of a pair, from what one node says they are. */
export async function change(reader: Torana, writer: Torana, attempt: Attempt): Promise<void> {
  const models = modelsOf(attempt.pair)
  let changes: object[]
  try {
    const routings = await Promise.all(models.map((model) => routingAt(reader, model)))
    changes = routings.map(({ entry, revision }, index) => ({
      object: 'model',
      name: models[index],
      base: revision,
      entry: { ...entry, deployments: [{ upstream: 'one', weight: attempt.stamp }, { upstream: 'two' }] },
    }))
  } catch {
    // Nothing was sent.
    attempt.outcome = 'refused'
    return
  }
  try {
    const answer = await asked(writer, 'POST', '/configuration/changes', { changes })
    const body = (await answer.json()) as { id?: string; error?: { code: string } }
    if (answer.status === 201) Object.assign(attempt, { outcome: 'saved', id: body.id })
    else if (answer.status === 409 && body.error?.code === 'configuration_changed') attempt.outcome = 'stale'
    else attempt.outcome = 'unknown'
  } catch {
    attempt.outcome = 'unknown'
  }
}
