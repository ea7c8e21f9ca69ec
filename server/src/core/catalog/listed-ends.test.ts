import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogOf } from '#test/support/config.ts'
import { withListedEnds, type UpstreamListing } from './listed-ends.ts'

const CONFIG = `
upstreams:
  one: { dialect: openai, baseUrl: 'https://one.example/v1' }
  two: { dialect: openai, baseUrl: 'https://two.example/v1' }
models:
  plain: { kind: image, deployments: [{ upstream: one }] }
  dated: { kind: image, aliases: [also], deployments: [{ upstream: one, endsOn: 2027-01-01, successor: next }] }
  endless: { kind: image, deployments: [{ upstream: one, endsOn: none }] }
  both: { kind: image, deployments: [{ upstream: one, model: theirs }, { upstream: two }] }
  vectors: { kind: embedding, embedding: { dimensions: 8 }, deployments: [{ upstream: one }] }
`
const catalog = catalogOf(CONFIG)

function listing(ends: UpstreamListing['ends'], fields: Partial<UpstreamListing> = {}): UpstreamListing {
  return {
    upstream: 'one',
    address: 'https://one.example/v1',
    readAt: '2026-11-18T07:00:00.000Z',
    ends,
    ...fields,
  }
}

const endsBy = (...listings: UpstreamListing[]) => {
  const { models } = withListedEnds(catalog, listings)
  return (id: string) => models.get(id)?.end
}

test('a listed day is the end of a model that had none, with its source', () => {
  const end = endsBy(listing({ plain: '2026-12-01', vectors: '2026-12-02', other: '2026-12-03' }))
  assert.deepEqual(end('plain'), {
    on: '2026-12-01',
    atMs: Date.UTC(2026, 11, 1),
    from: 'upstream',
    successor: undefined,
    source: 'the model list of one',
    asOf: '2026-11-18',
    note: undefined,
  })
  assert.equal(end('vectors')?.on, '2026-12-02')
  assert.equal(end('dated')?.on, '2027-01-01')
})

test('the earlier day wins and keeps the known successor; of equal days the list is the fresher source', () => {
  const ended = (on: string) => {
    const end = endsBy(listing({ dated: on }))('dated')
    return [end?.on, end?.from, end?.successor]
  }
  assert.deepEqual(ended('2026-12-31'), ['2026-12-31', 'upstream', 'next'])
  assert.deepEqual(ended('2027-01-01'), ['2027-01-01', 'upstream', 'next'])
  assert.deepEqual(ended('2027-01-02'), ['2027-01-01', 'configuration', 'next'])
  assert.equal(endsBy(listing({ dated: '2026-12-31' }))('also')?.on, '2026-12-31', 'by an alias')
})

test('endsOn: none keeps out what the upstream lists', () => {
  assert.equal(endsBy(listing({ endless: '2026-12-01' }))('endless'), undefined)
})

test('a day belongs to the upstream’s name of the model, and a model ends with its last deployment', () => {
  const two = { upstream: 'two', address: 'https://two.example/v1' }
  assert.equal(endsBy(listing({ theirs: '2026-12-01' }))('both'), undefined)
  assert.equal(
    endsBy(listing({ theirs: '2026-12-01' }), listing({ both: '2026-12-05' }, two))('both')?.on,
    '2026-12-05',
  )
  assert.equal(
    endsBy(listing({ both: '2026-12-01' }), listing({ both: '2026-12-05' }, two))('both'),
    undefined,
  )
})

test('the list of another address says nothing', () => {
  assert.equal(
    endsBy(listing({ plain: '2026-12-01' }, { address: 'https://old.example/v1' }))('plain'),
    undefined,
  )
  assert.equal(withListedEnds(catalog, []), catalog)
})
