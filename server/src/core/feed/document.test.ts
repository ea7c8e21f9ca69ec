import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../fault/fault.ts'
import { canonicalText, isOldFact, readEnvelope } from './document.ts'
import { chosenSequence } from './choice.ts'

const document = { format: 'torana-catalog/1', sequence: 7, made_on: '2026-11-18', providers: {} }
const signatures = [{ key: 'k', signature: 's' }]

const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])

const REFUSED: readonly (readonly [string, unknown, string, RegExp])[] = [
  ['no JSON', '{', 'catalog_feed_invalid', /is not JSON/],
  ['a list', '[]', 'catalog_feed_invalid', /the feed is not a mapping/],
  [
    'another format',
    { document: { ...document, format: 'torana-catalog/2' }, signatures },
    'catalog_feed_invalid',
    /"torana-catalog\/2", and this version/,
  ],
  [
    'a field of a later version',
    { document: { ...document, expires: 1 }, signatures },
    'catalog_feed_invalid',
    /the field "expires"/,
  ],
  [
    'a field beside the document',
    { document, signatures, comment: '' },
    'catalog_feed_invalid',
    /the field "comment"/,
  ],
  ['no sequence', { document: { ...document, sequence: 0 }, signatures }, 'catalog_feed_invalid', /sequence/],
  [
    'a fraction',
    { document: { ...document, sequence: 1.5 }, signatures },
    'catalog_feed_invalid',
    /sequence/,
  ],
  [
    'no day',
    { document: { ...document, made_on: '2026-13-01' }, signatures },
    'catalog_feed_invalid',
    /made_on/,
  ],
  [
    'too deep',
    { document: { ...document, providers: { a: deep(20) } }, signatures },
    'catalog_feed_invalid',
    /deeper than 16/,
  ],
  [
    'a prototype',
    `{"document":{"format":"torana-catalog/1","sequence":1,"made_on":"2026-11-18","providers":{"a":{"__proto__":1}}},"signatures":[{"key":"","signature":""}]}`,
    'catalog_feed_invalid',
    /__proto__/,
  ],
  [
    'too many providers',
    {
      document: {
        ...document,
        providers: Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`p${at}`, {}])),
      },
      signatures,
    },
    'catalog_feed_invalid',
    /201 providers/,
  ],
  ['no signature', { document, signatures: [] }, 'catalog_feed_untrusted', /no signature/],
  [
    'too many signatures',
    { document, signatures: Array.from({ length: 9 }, () => signatures[0]) },
    'catalog_feed_invalid',
    /9 signatures/,
  ],
]

for (const [what, given, code, message] of REFUSED) {
  test(`a feed with ${what} is refused with a code`, () => {
    const text = typeof given === 'string' ? given : JSON.stringify(given)
    assert.throws(
      () => readEnvelope(text),
      (error) => error instanceof Fault && error.code === code && message.test(error.message),
    )
  })
}

test('equal values have one canonical text, however their keys are ordered, and it reads as the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalText(value)
      assert.equal(canonicalText(reversed(value)), text)
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
    }),
  )
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.create(null) as Record<string, unknown>
  for (const [key, one] of Object.entries(value).toReversed()) copy[key] = reversed(one)
  return copy
}

test('a fact is old after 120 days', () => {
  const at = (day: string): number => Date.parse(day)
  assert.equal(isOldFact('2026-07-21', at('2026-11-18')), false)
  assert.equal(isOldFact('2026-07-20', at('2026-11-18')), true)
  assert.equal(isOldFact(undefined, at('2026-11-18')), false)
})

test('the pinned catalogue counts, else the newest of the stored ones and that of the program', () => {
  const feeds = [{ sequence: 9 }, { sequence: 5 }]
  const cases: readonly (readonly [number | 'built-in' | undefined, number, number | undefined])[] = [
    [undefined, 7, 9],
    [undefined, 9, undefined],
    [undefined, 11, undefined],
    [5, 11, 5],
    ['built-in', 7, undefined],
  ]
  for (const [pinned, builtIn, expected] of cases)
    assert.equal(chosenSequence({ feeds, pinned }, builtIn), expected)
})
