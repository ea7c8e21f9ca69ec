import { setTimeout as delay } from 'node:timers/promises'

/**
 * Longest wait of a test for what must come. It is for what never comes, not for what is late: a machine that is busy with
 * much else raises it by TORANA_TEST_PATIENCE, a factor.
 */
export const PATIENCE_MS = 90_000 * Number(process.env['TORANA_TEST_PATIENCE'] ?? 1)

/** Answers of a node before any call while the machine gives it, or its database, no time. */
const TURNED_AWAY = new Set(['node_overloaded', 'budget_store_unreachable', 'ledger_unavailable'])

interface Refusable {
  readonly status: number
  readonly body: { readonly error: { readonly code: string } }
}

/** A node on a machine that is busy with other tests may have to refuse a request: it is repeated, as an SDK would. */
export async function askPatiently<Options, Asked extends Refusable>(
  gateway: { readonly ask: (body: unknown, options?: Options) => Promise<Asked> },
  body: unknown,
  options?: Options,
): Promise<Asked> {
  for (;;) {
    const answer = await gateway.ask(body, options)
    if (answer.status !== 503 || !TURNED_AWAY.has(answer.body.error.code)) return answer
    await delay(100)
  }
}
