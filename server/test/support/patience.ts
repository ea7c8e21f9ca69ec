import { setTimeout as delay } from 'node:timers/promises'
import type { Asked, AskOptions, Gateway } from './gateway.ts'

/** A node on a machine that is busy with other tests may have to turn somebody away: they come again, as an SDK would. */
export async function askPatiently(gateway: Gateway, body: unknown, options?: AskOptions): Promise<Asked> {
  for (;;) {
    const answer = await gateway.ask(body, options)
    if (answer.status !== 503 || answer.body.error.code !== 'node_overloaded') return answer
    await delay(100)
  }
}
