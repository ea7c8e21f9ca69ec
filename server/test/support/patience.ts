import { setTimeout as delay } from 'node:timers/promises'
import type { Asked, AskOptions, Gateway } from './gateway.ts'

/** Answers of a node before any call while the machine gives it, or its database, no time. */
const TURNED_AWAY = new Set(['node_overloaded', 'budget_store_unreachable', 'ledger_unavailable'])

/** A node on a machine that is busy with other tests may have to refuse a request: it is repeated, as an SDK would. */
export async function askPatiently(
  gateway: Pick<Gateway, 'ask'>,
  body: unknown,
  options?: AskOptions,
): Promise<Asked> {
  for (;;) {
    const answer = await gateway.ask(body, options)
    if (answer.status !== 503 || !TURNED_AWAY.has(answer.body.error.code)) return answer
    await delay(100)
  }
}
