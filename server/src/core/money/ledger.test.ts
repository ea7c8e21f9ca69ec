import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MANY_RUNS } from '#test/support/arbitraries.ts'
import { anEntry } from '#test/support/entries.ts'
import {
  HOUR_MS,
  hourOf,
  lateEntry,
  mayComeLate,
  momentOf,
  standingWith,
  type LedgerEntry,
  type Standing,
} from './ledger.ts'

/** The ledger of one attempt, and its number of open unknowns. */
function keep(entries: readonly LedgerEntry[]) {
  const rows: LedgerEntry[] = []
  let standing: Standing | undefined
  let openUnknowns = 0
  for (const entry of entries) {
    const late = lateEntry(entry, standing)
    if (late === undefined) continue
    rows.push(late.entry)
    standing = standingWith(standing, late.entry)
    openUnknowns += late.unknowns
  }
  return { rows, standing, openUnknowns }
}

function sumOf(rows: readonly LedgerEntry[]) {
  return {
    amountNanoUsd: rows.reduce((sum, { amountNanoUsd }) => sum + (amountNanoUsd ?? 0n), 0n),
    tokens: rows.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
    images: rows.reduce((sum, { images }) => sum + images, 0),
  }
}

const maybeAmount = fc.option(fc.bigInt({ min: 0n, max: 10n ** 12n }), { nil: undefined })
const maybeTokens = fc.option(fc.nat(1_000_000), { nil: undefined })

/** All entries that one attempt may have, each at most once, in any order and with any of them repeated. */
const arrivals = fc
  .record({
    intent: fc.option(maybeAmount, { nil: null }),
    unknown: fc.option(fc.record({ amount: maybeAmount, images: fc.nat(4) }), { nil: null }),
    void: fc.option(
      maybeAmount.map((amount) => (amount === undefined ? undefined : 0n)),
      { nil: null },
    ),
    post: fc.option(fc.record({ amount: maybeAmount, tokens: maybeTokens, images: fc.nat(4) }), {
      nil: null,
    }),
    adjust: fc.option(fc.bigInt({ min: -1000n, max: 1000n }), { nil: null }),
  })
  .chain((said) => {
    const entries: LedgerEntry[] = []
    if (said.intent !== null)
      entries.push(anEntry({ kind: 'intent', amountNanoUsd: said.intent, tokens: undefined }))
    if (said.unknown !== null) {
      const { amount, images } = said.unknown
      entries.push(anEntry({ kind: 'unknown', amountNanoUsd: amount, images, tokens: undefined }))
    }
    if (said.void !== null)
      entries.push(anEntry({ kind: 'void', amountNanoUsd: said.void, tokens: undefined }))
    if (said.post !== null) {
      const { amount, tokens, images } = said.post
      entries.push(anEntry({ kind: 'post', amountNanoUsd: amount, tokens, images }))
    }
    if (said.adjust !== null) entries.push(anEntry({ kind: 'adjust', amountNanoUsd: said.adjust, tokens: 0 }))
    const repeated =
      entries.length === 0 ? fc.constant([]) : fc.array(fc.constantFrom(...entries), { maxLength: 4 })
    return repeated
      .chain((again) =>
        fc.shuffledSubarray([...entries, ...again], { minLength: entries.length + again.length }),
      )
      .map((order) => ({ entries, order }))
  })

test('in whatever order entries of an attempt arrive, their sum is what the best-informed says', () => {
  fc.assert(
    fc.property(arrivals, ({ entries, order }) => {
      const { rows } = keep(order)
      const find = (kind: LedgerEntry['kind']) => entries.find((entry) => entry.kind === kind)
      const best = find('post') ?? find('void') ?? find('unknown') ?? find('intent')
      const adjust = find('adjust')
      assert.deepEqual(sumOf(rows), {
        amountNanoUsd: (best?.amountNanoUsd ?? 0n) + (adjust?.amountNanoUsd ?? 0n),
        tokens: best?.tokens ?? 0,
        images: best?.images ?? 0,
      })
    }),
    MANY_RUNS,
  )
})

test('no kind of an attempt is added twice', () => {
  fc.assert(
    fc.property(arrivals, ({ order }) => {
      const kinds = keep(order).rows.map(({ kind }) => kind)
      assert.equal(new Set(kinds).size, kinds.length)
    }),
    MANY_RUNS,
  )
})

test('an unknown counts as open until it is resolved, and never below nothing', () => {
  fc.assert(
    fc.property(arrivals, ({ order }) => {
      const { rows, openUnknowns } = keep(order)
      const has = (kind: LedgerEntry['kind']) => rows.some((row) => row.kind === kind)
      const isOpen = has('unknown') && !has('post') && !has('void')
      assert.equal(openUnknowns, isOpen ? 1 : 0)
      const openNanoUsd = rows.reduce((sum, { unknownNanoUsd }) => sum + (unknownNanoUsd ?? 0n), 0n)
      const unknown = rows.find(({ kind }) => kind === 'unknown')
      assert.equal(openNanoUsd, isOpen ? (unknown?.amountNanoUsd ?? 0n) : 0n)
    }),
    MANY_RUNS,
  )
})

test('what resolves an unknown uses up no lease a second time', () => {
  const leased = { projectLeaseNanoUsd: 100n, keyLeaseNanoUsd: 100n }
  const unknown = anEntry({ kind: 'unknown', amountNanoUsd: 250n, ...leased })
  const { rows } = keep([unknown, anEntry({ amountNanoUsd: 100n, ...leased })])
  assert.deepEqual(
    rows.map(({ amountNanoUsd, projectLeaseNanoUsd, keyLeaseNanoUsd }) => [
      amountNanoUsd,
      projectLeaseNanoUsd,
      keyLeaseNanoUsd,
    ]),
    [
      [250n, 100n, 100n],
      [-150n, 0n, 0n],
    ],
  )
})

test('a call without a price stays without one, and unknown tokens stay unknown', () => {
  const nothing = { amountNanoUsd: undefined, tokens: undefined }
  const { rows } = keep([anEntry({ kind: 'unknown', ...nothing }), anEntry({ kind: 'void', ...nothing })])
  assert.deepEqual(
    rows.map(({ amountNanoUsd, tokens }) => [amountNanoUsd, tokens]),
    [
      [undefined, undefined],
      [undefined, undefined],
    ],
  )
})

test('the moment of an id is the one it was made at, and its hour the one that moment is in', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (atMs) => {
      const hex = atMs.toString(16).padStart(12, '0')
      const id = `${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8def-0123456789ab`
      assert.equal(momentOf(id), atMs)
      assert.equal(hourOf(id), atMs - (atMs % HOUR_MS))
    }),
    MANY_RUNS,
  )
})

for (const [title, entry, isChecked] of [
  ['a paid call of one image', { images: 1 }, true],
  ['a paid call of four images', { images: 4 }, true],
  ['an unknown of embeddings', { kind: 'unknown' }, true],
  ['a paid call for embeddings', {}, false],
  ['a call for embeddings that was not paid', { kind: 'void' }, false],
] as const)
  test(`${title} is ${isChecked ? 'compared with' : 'written without a look at'} what other nodes wrote`, () =>
    assert.equal(mayComeLate(anEntry(entry)), isChecked))
