import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lineText } from './line-text.ts'

const line = (facts: object): string =>
  JSON.stringify({ level: 'info', time: '2026-11-16T08:47:08.123Z', message: 'request', ...facts })

test('a request is one short line with its facts behind it', () => {
  const text = lineText(
    line({ requestId: 'r', route: 'embeddings', status: 200, durationMs: 12.3, model: 'm' }),
    false,
  )
  assert.equal(text, '08:47:08.123 INFO  embeddings 200 in 12.3 ms requestId=r model=m')
})

test('whatever a caller sent can neither make a line nor colour one', () => {
  const text = lineText(
    line({ message: 'security event', client: 'a\n08:00 ERROR fake', user: '\u001B[31mred', empty: '' }),
    false,
  )
  assert.equal(text.split('\n').length, 1)
  assert.ok(!text.includes('\u001B'))
  assert.match(text, /client="a\\n08:00 ERROR fake" user="\\u001b\[31mred" empty=""$/)
})

test('an error has its stack below, and colours are there only when asked for', () => {
  const json = line({
    level: 'error',
    message: 'request failed',
    err: { message: 'm', stack: 'Error: m\n    at a' },
  })
  assert.equal(lineText(json, false), '08:47:08.123 ERROR request failed\n      Error: m\n          at a')
  assert.ok(lineText(json, true).includes('\u001B[31mERROR\u001B[0m'))
})
