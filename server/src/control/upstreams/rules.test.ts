import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Catalog } from '#core/catalog/catalog.ts'
import { anUpstream } from '#test/support/deployments.ts'
import type { DeploymentStanding } from '#core/traffic/node-summary.ts'
import {
  addressFields,
  declaredEntry,
  entryOf,
  freeName,
  mergedEntry,
  newSecret,
  stateOf,
  usable,
} from './rules.ts'

test('a request names the entry that torana.yaml would have', () => {
  for (const [given, entry] of [
    [{}, {}],
    [{ provider: 'openai' }, { provider: 'openai' }],
    // Without a provider it speaks as OpenAI does.
    [{ base_url: 'http://tei' }, { dialect: 'openai', baseUrl: 'http://tei' }],
    [
      { provider: 'tei', base_url: 'http://tei' },
      { provider: 'tei', baseUrl: 'http://tei' },
    ],
    [
      { provider: 'azure', api_version: 'v1' },
      { provider: 'azure', apiVersion: 'v1' },
    ],
    [
      { provider: 'google-vertex', project: 'p', location: 'eu' },
      { provider: 'google-vertex', settings: { project: 'p', location: 'eu' } },
    ],
    [{ region: 'eu-central-1' }, { settings: { region: 'eu-central-1' } }],
  ] as const)
    assert.deepEqual(entryOf(given), entry)
})

test('a setting becomes part of a host, so it can’t leave the provider’s domain, and every field is bounded', () => {
  for (const [field, good, bad] of [
    ['region', 'eu-central-1', 'eu-central-1.evil.example'],
    ['location', 'europe-west4', 'evil.example/'],
  ] as const) {
    assert.ok(addressFields[field].safeParse(good).success)
    const refused = addressFields[field].safeParse(bad)
    assert.match(refused.error?.issues[0]?.message ?? '', /^expected an? /)
  }
  for (const [field, characters] of [
    ['base_url', 2000],
    ['api_version', 40],
    ['project', 200],
  ] as const)
    assert.deepEqual(
      [0, 1].map((more) => addressFields[field].safeParse('k'.repeat(characters + more)).success),
      [true, false],
    )
  assert.deepEqual(
    ['', 'k', 'k'.repeat(100_000), 'k'.repeat(100_001)].map((secret) => newSecret.safeParse(secret).success),
    [false, true, true, false],
  )
})

test('a change replaces a field, and settings one by one', () => {
  const before = { provider: 'p', settings: { region: 'a', project: 'b' } }
  assert.deepEqual(mergedEntry(before, { settings: { region: 'c' } }), {
    provider: 'p',
    settings: { region: 'c', project: 'b' },
  })
  assert.deepEqual(mergedEntry(before, { provider: 'q' }), { ...before, provider: 'q' })
  assert.deepEqual(mergedEntry({ provider: 'p' }, { baseUrl: 'u' }), { provider: 'p', baseUrl: 'u' })
  assert.deepEqual(mergedEntry({ settings: 'damaged' }, { settings: { region: 'c' } }), {
    settings: { region: 'c' },
  })
})

test('a check gets the address of an upstream and nothing of its credential', () => {
  const upstream = anUpstream({ provider: 'openai', baseUrl: 'https://api', apiVersion: 'v1' })
  assert.deepEqual(declaredEntry(upstream), { provider: 'openai', dialect: 'openai', baseUrl: 'https://api' })
  const azure = { ...upstream, dialect: 'azure', headers: { a: 'b' }, settings: { region: 'c' } } as const
  assert.deepEqual(declaredEntry(azure), {
    provider: 'openai',
    dialect: 'azure',
    baseUrl: 'https://api',
    apiVersion: 'v1',
    headers: { a: 'b' },
    settings: { region: 'c' },
  })
})

test('an upstream that torana.yaml would refuse is refused with the same problems', () => {
  const tried = { upstream: anUpstream(), offer: () => [] }
  assert.equal(usable(tried), tried)
  assert.throws(() => usable({ problems: ['no such host', 'no scheme'] }), {
    code: 'invalid_parameter',
    param: 'base_url',
    message: 'no such host; no scheme',
  })
})

test('an upstream without a name has its provider’s, or the first part of its host, with a number where it is taken', () => {
  const taken = {
    upstreams: new Map(['openai', 'tei', 'tei-2'].map((name) => [name, {}])),
  } as unknown as Catalog
  for (const [address, name] of [
    [{}, 'server'],
    [{ provider: 'cohere', base_url: 'https://tei.local' }, 'cohere'],
    [{ provider: 'openai' }, 'openai-2'],
    [{ base_url: 'https://tei.local' }, 'tei-3'],
    [{ base_url: 'https://other.tei.local:8080/v1' }, 'other'],
    [{ base_url: 'http://10.0.0.1:8080' }, 'server'],
    [{ base_url: 'http://[::1]:8080' }, 'server'],
    [{ base_url: 'no address' }, 'server'],
    [{ provider: 'a b/c' }, 'a-b-c'],
    [{ provider: 'p'.repeat(51) }, 'p'.repeat(50)],
    [{ provider: '' }, 'server'],
  ] as const)
    assert.equal(freeName(address, taken), name)
  const none = { ...taken, upstreams: undefined } as Catalog
  assert.equal(freeName({ provider: 'openai' }, none), 'openai')
})

test('an upstream is in the worst state of its deployments, with the status of what it answered', () => {
  const standing = (state: DeploymentStanding['state'], reason: string | null, failures = {}) =>
    ({ state, reason, failures, sinceMs: 1000, untilMs: 9000 }) as DeploymentStanding
  const [since, retryAt] = ['1970-01-01T00:00:01.000Z', '1970-01-01T00:00:09.000Z']
  const healthy = standing('healthy', null)
  for (const [standings, kind, status] of [
    [[healthy, undefined], 'healthy', null],
    [[standing('held-back', 'not compared yet')], 'healthy', null],
    [[standing('drained', 'new driver')], 'healthy', null],
    [[healthy, standing('limited', 'too many requests (status 429)')], 'limited', 429],
    [[standing('ejected', 'refused our key (status 401)')], 'rejected', 401],
    [[standing('probing', 'refused our key', { rejectedUs: 3 })], 'rejected', null],
    [[standing('ejected', 'connect ECONNREFUSED')], 'unreachable', null],
    [[standing('ejected', 'failed (status 503)', { rejectedUs: 1 })], 'unreachable', 503],
    [[standing('limited', null), standing('quarantined', 'another space')], 'space_failed', null],
  ] as const) {
    const retry = kind === 'healthy' ? null : retryAt
    assert.deepEqual(stateOf(standings, true), { kind, since, retry_at: retry, status })
  }
  for (const [isUsed, kind] of [
    [true, 'healthy'],
    [false, 'unused'],
  ] as const)
    assert.deepEqual(stateOf([], isUsed), { kind, since: null, retry_at: null, status: null })
})
