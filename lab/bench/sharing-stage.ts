/** The stage of `sharing.ts`: gateways, the model, and callers that ask for texts in a given order. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { ModelCounters } from '../model-server/model.ts'
import type { Started } from '../processes.ts'
import { seededRandom } from '../../server/test/support/random.ts'
import { GATEWAY_CORE } from './side-by-side.ts'
import { hostedConfig, startTorana } from './torana.ts'

export const KEY = `bench-${'0123456789abcdef'.repeat(2)}`

export interface GatewayOptions {
  /** With its `/v1`. */
  readonly upstream: string
  readonly model: string
  /** The model's entry beside its deployment. */
  readonly entry: object
  readonly limits?: object
  readonly env?: Record<string, string>
  readonly flags: readonly string[]
}

export function startGateway(folder: string, options: GatewayOptions): Promise<Started> {
  const { upstream, model, entry, limits = {}, env = {}, flags } = options
  return startTorana({
    core: GATEWAY_CORE,
    folder,
    config: { ...hostedConfig(upstream, entry, model), limits },
    flags,
    env: { TORANA_BOOTSTRAP_KEY: KEY, ...env },
  })
}

export async function countersOf({ origin }: Started): Promise<ModelCounters> {
  return (await (await fetch(`${origin}/counters`)).json()) as ModelCounters
}

/** The model also works for callers that have left: the next window must not wait for them. */
export async function rested(model: Started): Promise<ModelCounters> {
  for (;;) {
    const counters = await countersOf(model)
    if (counters.queuedTexts === 0) return counters
    await wait(50)
  }
}

export interface Asking {
  readonly name: string
  readonly model: string
  readonly texts: readonly string[]
  /** Which text each request asks for; from the start again when all were. */
  readonly order: readonly number[]
}

/** A script of wrk. */
export function askingScript(folder: string, { name, model, texts, order }: Asking): string {
  const file = (kind: string): string => join(folder, `${name}.${kind}`)
  const bodies = texts.map((input) => JSON.stringify({ model, input, encoding_format: 'base64' }))
  writeFileSync(file('bodies'), bodies.join('\n'))
  writeFileSync(file('order'), order.map((index) => index + 1).join('\n'))
  writeFileSync(
    file('lua'),
    `local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer ${KEY}" }
local bodies, order, n = {}, {}, 0
for line in io.lines("${file('bodies')}") do bodies[#bodies + 1] = line end
for line in io.lines("${file('order')}") do order[#order + 1] = tonumber(line) end
request = function()
  n = n % #order + 1
  return wrk.format("POST", nil, headers, bodies[order[n]])
end
`,
  )
  return file('lua')
}

/** Ranks drawn with probability 1 ⁄ rank, from 0. The same for the same seed. */
export function zipfDraws(count: number, ranks: number, seed: number): number[] {
  const sums: number[] = []
  let sum = 0
  for (let rank = 1; rank <= ranks; rank += 1) sums.push((sum += 1 / rank))
  const random = seededRandom(seed)
  return Array.from({ length: count }, () => {
    const drawn = random.next() * sum
    let [low, high] = [0, ranks - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sums[middle] as number) > drawn) high = middle
      else low = middle + 1
    }
    return low
  })
}
