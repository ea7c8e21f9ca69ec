import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SecurityLog } from './security-log.ts'

interface Line {
  readonly level: string
  readonly kind: string
  readonly [field: string]: unknown
}

function begin() {
  let nowMs = 1000
  const lines: Line[] = []
  const writer =
    (level: string) =>
    (line: unknown): void =>
      void lines.push({ level, ...(line as Omit<Line, 'level'>) } as Line)
  const security = new SecurityLog(
    { info: writer('info'), warn: writer('warn') },
    { nowMs: () => 0, monotonicMs: () => nowMs },
  )
  return { security, lines, pass: (ms: number) => (nowMs += ms) }
}

test('an event is a line with a mark, its kind and the address', () => {
  const { security, lines } = begin()
  security.note({ kind: 'wrong_key', requestId: 'r1', client: '192.0.2.1', route: 'embeddings' })
  security.note({ kind: 'admin_request', requestId: 'r2', client: '192.0.2.1', actor: 'admin-token' })
  assert.deepEqual(lines, [
    {
      level: 'warn',
      event: 'security',
      kind: 'wrong_key',
      requestId: 'r1',
      client: '192.0.2.1',
      route: 'embeddings',
    },
    {
      level: 'info',
      event: 'security',
      kind: 'admin_request',
      requestId: 'r2',
      client: '192.0.2.1',
      actor: 'admin-token',
    },
  ])
})

test('a flood of one kind is twenty lines a second and hides no other; the next line says how many are missing', () => {
  const { security, lines, pass } = begin()
  for (let event = 0; event < 1000; event += 1)
    security.note({ kind: 'wrong_key', requestId: 'r', client: '192.0.2.1' })
  security.note({ kind: 'wrong_admin_token', requestId: 'r', client: '192.0.2.2' })
  assert.equal(lines.length, 21)
  assert.equal(lines.at(-1)?.kind, 'wrong_admin_token')
  pass(1000)
  security.note({ kind: 'wrong_key', requestId: 'r', client: '192.0.2.1' })
  assert.equal(lines.at(-1)?.['omitted'], 980)
  assert.match(security.text(), /^torana_security_events_total\{kind="wrong_key"\} 1001$/m)
  assert.match(security.text(), /^torana_security_events_total\{kind="expired_key"\} 0$/m)
})
