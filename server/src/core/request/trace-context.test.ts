import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parentIn, TraceContext } from './trace-context.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const on = { isSampled: true, isHandedOn: true, isBaggageHandedOn: true }
const nothing = { tracestate: undefined, baggage: undefined }

test('a traceparent is taken as W3C says, and anything else begins a new trace', () => {
  assert.deepEqual(parentIn(`00-${TRACE}-${SPAN}-01`), { traceId: TRACE, spanId: SPAN, isSampled: true })
  assert.equal(parentIn(`00-${TRACE}-${SPAN}-00`)?.isSampled, false)
  // A later version may have more at its end.
  assert.equal(parentIn(`cc-${TRACE}-${SPAN}-03-more`)?.isSampled, true)
  for (const wrong of [
    undefined,
    '',
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  ])
    assert.equal(parentIn(wrong), undefined, String(wrong))
})

test('every span id is of the form that W3C wants, and no two calls of a request have the same', () => {
  const uuids = fc.uniqueArray(fc.uuid({ version: 7 }), {
    minLength: 3,
    maxLength: 20,
    comparator: (a, b) => a.slice(-17) === b.slice(-17),
  })
  fc.assert(
    fc.property(uuids, ([requestId = '', ...callIds]) => {
      const context = new TraceContext(requestId, undefined, nothing, on)
      const ids = [context.spanId, ...callIds.map((callId) => context.spanIdOf(callId))]
      for (const id of ids) assert.match(id, /^[0-9a-f]{16}$/)
      assert.equal(new Set(ids).size, ids.length)
      assert.equal(context.traceId, requestId.replaceAll('-', ''))
    }),
  )
})

test('state and baggage that are too long or no header text are not handed on', () => {
  const parent = parentIn(`00-${TRACE}-${SPAN}-01`)
  const id = '01a1dcc1-b525-7f4c-859f-8dab52a87a6c'
  const headersOf = (tracestate: string, baggage: string) =>
    new TraceContext(id, parent, { tracestate, baggage }, on).headersFor(id.replace('a6c', 'a6d'))
  assert.deepEqual(headersOf('a=1', 'b=2')?.slice(2), ['tracestate', 'a=1', 'baggage', 'b=2'])
  assert.equal(headersOf('a'.repeat(513), 'b'.repeat(8193))?.length, 2)
  assert.equal(headersOf('ä', 'b\u0000')?.length, 2)
})
