import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uuidv7Identifiers } from './identifiers.ts'

test('ids are UUIDv7, unique, and carry their time in front', () => {
  let nowMs = 1_700_000_000_000
  const identifiers = uuidv7Identifiers({ nowMs: () => nowMs, monotonicMs: () => 0 })
  const ids = Array.from({ length: 50_000 }, () => {
    nowMs += 0.01
    return identifiers.next()
  })
  assert.equal(new Set(ids).size, ids.length)
  for (const [index, id] of ids.entries()) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
    assert.ok(Math.abs(time - (1_700_000_000_000 + (index + 1) * 0.01)) <= 1)
  }
})
