import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brokenConnectionsLog, cacheLog, keyStoreLog } from './store-log.ts'

function aLog() {
  const lines: unknown[][] = []
  const note = (...line: unknown[]): void => void lines.push(line)
  return { lines, log: { info: note, warn: note, error: note } }
}

test('connections that break together have one line, without stacks', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { lines, log } = aLog()
  const broke = brokenConnectionsLog(log)
  for (let number = 1; number <= 10; number += 1) broke(new Error('terminating connection'))
  t.mock.timers.tick(1000)
  broke(new Error('later'))
  t.mock.timers.tick(1000)
  assert.deepEqual(lines, [
    [{ connections: 10, reason: 'terminating connection' }, 'connections to PostgreSQL broke'],
    [{ connections: 1, reason: 'later' }, 'connections to PostgreSQL broke'],
  ])
})

test('the error of a cache that is unreachable is in the log', () => {
  const { lines, log } = aLog()
  const error = new Error('ECONNREFUSED')
  cacheLog(log)({ kind: 'away', error })
  cacheLog(log)({ kind: 'late', digests: 3 })
  assert.deepEqual(lines, [
    [{ kind: 'away', err: error }, 'the vector cache in Redis is unreachable'],
    [{ kind: 'late', digests: 3 }, 'the vector cache in Redis dropped entries'],
  ])
})

test('a node that knows no stored key does not say that it accepts known ones', () => {
  const { lines, log } = aLog()
  let keys = 0
  const trouble = keyStoreLog(log, () => keys)
  trouble(new Error('away'))
  keys = 7
  trouble(new Error('away'))
  trouble(undefined)
  assert.deepEqual(
    lines.map((line) => line.at(-1)),
    [
      'the key store is unreachable; this node knows no stored key and accepts only those of its configuration',
      'the key store is unreachable; this node accepts known keys for one hour',
      'the key store is back',
    ],
  )
})
