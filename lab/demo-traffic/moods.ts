/** How the upstreams of the demo fare: all are well at first, then one fails now and then, one is slow to let us in, one drifts out of its space. */
import type { FakeProvider } from '../fake-provider/server.ts'
import type { DemoUpstream } from './install.ts'

type Behaviour = Parameters<FakeProvider['setMode']>[1]

interface Mood {
  readonly upstream: DemoUpstream
  /** Seconds of each round in which it holds. */
  readonly fromS: number
  readonly toS: number
  readonly behaviour: Behaviour
}

/** Period after which the moods repeat. It begins with two calm minutes. */
const ROUND_S = 450

const MOODS: readonly Mood[] = [
  { upstream: 'gpu-two', fromS: 130, toS: 290, behaviour: { mode: '503' } },
  { upstream: 'azure-eu', fromS: 150, toS: 220, behaviour: { mode: '429', retryAfterMs: 4000, share: 0.15 } },
  { upstream: 'siliconflow', fromS: 320, toS: 340, behaviour: { mode: 'garbage', share: 0.1 } },
  { upstream: 'openai', fromS: 350, toS: 365, behaviour: { mode: '500', share: 0.08 } },
  // A call that breaks after it was sent may have been paid: an unknown.
  { upstream: 'black-forest-labs', fromS: 120, toS: 390, behaviour: { mode: 'reset', share: 0.08 } },
  // From here on its vectors are another model's.
  { upstream: 'azure-us', fromS: 120, toS: ROUND_S, behaviour: { vectors: 'other-model' } },
]

/** Sets each upstream to what it is at this second. */
export class Moods {
  readonly #provider: Pick<FakeProvider, 'setMode'>
  readonly #set = new Map<DemoUpstream, Mood | undefined>()

  constructor(provider: Pick<FakeProvider, 'setMode'>) {
    this.#provider = provider
  }

  async at(second: number): Promise<void> {
    const inRound = second % ROUND_S
    for (const upstream of new Set(MOODS.map((mood) => mood.upstream))) {
      const mood = MOODS.find((one) => one.upstream === upstream && one.fromS <= inRound && inRound < one.toS)
      if (this.#set.has(upstream) && this.#set.get(upstream) === mood) continue
      this.#set.set(upstream, mood)
      await this.#provider.setMode(upstream, mood?.behaviour)
    }
  }
}
