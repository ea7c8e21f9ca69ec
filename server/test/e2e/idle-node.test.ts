/** What a node without requests asks of PostgreSQL. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { PULSE_MS } from '#worker/pulse.ts'
import { startGateway } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { hasPostgres, testPostgres } from '#test/support/servers.ts'

/** Heartbeats of a round. They are its clock: a busy machine makes it longer, and not what a node asks between two of them. */
const BEATS = 8
/** One per second: a transaction has at least one. */
const MAX_STATEMENTS = Math.floor((BEATS * PULSE_MS) / 1000)
/** What a start looks at falls into the first rounds, and the chores of each minute into one of five. */
const MAX_ROUNDS = 6
const ROUND_MS = 120_000

/** Statements of this process, by their first words. */
const counts = new Map<string, number>()
const query = Reflect.get(Client.prototype, 'query') as (...args: unknown[]) => unknown
Client.prototype.query = function (this: Client, ...args: unknown[]) {
  const [statement] = args
  const text = typeof statement === 'string' ? statement : (statement as { readonly text: string }).text
  const name = text.replaceAll(/\s+/g, ' ').trim().slice(0, 80)
  counts.set(name, (counts.get(name) ?? 0) + 1)
  return query.apply(this, args)
} as typeof Client.prototype.query

function sumOf(some: (name: string) => boolean): number {
  return [...counts].reduce((sum, [name, times]) => sum + (some(name) ? times : 0), 0)
}

const isBeat = (name: string): boolean => name.startsWith('WITH beat AS')

test(
  'an idle node repeats one statement, its heartbeat',
  { skip: hasPostgres ? false : 'needs PostgreSQL' },
  async () => {
    const env = {
      DATABASE_URL: (await testPostgres()).url,
      TORANA_SECRET: 'a secret of this test alone, 32 bytes',
    }
    await startGateway({ models: { 'plain-w16': { on: 'plain', spaceGuard: true } }, env })
    const rounds: string[] = []
    for (let isCalm = false; !isCalm;) {
      counts.clear()
      await eventually(async () => assert.ok(sumOf(isBeat) >= BEATS), ROUND_MS)
      isCalm =
        sumOf(() => true) <= MAX_STATEMENTS &&
        [...counts].every(([name, times]) => isBeat(name) || times < BEATS / 2)
      rounds.push([...counts].map(([name, times]) => `${times} ${name}`).join('\n'))
      if (!isCalm) assert.ok(rounds.length < MAX_ROUNDS, rounds.join('\n\n'))
    }
  },
)
