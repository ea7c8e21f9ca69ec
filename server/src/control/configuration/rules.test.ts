import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '#config/load.ts'
import { builtInFacts } from '#config/build/facts.ts'
import type { ChangedObject, StoredEntry, StoredObject } from '#ports/stored-configuration.ts'
import { effectsOf, isChangedSince, loadSummary, reverseOf, sealedUpstreams, textDiff } from './rules.ts'

const loaded = readConfig(
  'torana.yaml',
  'upstreams: { main: { provider: openai } }\nmodels: { small: { facts: text-embedding-3-small, deployments: [{ upstream: main }] } }',
  {
    env: {},
    readFile: () => '',
    facts: builtInFacts(),
    bootstrapKey: undefined,
    nowMs: Date.UTC(2026, 10, 18),
  },
)
const stored = (
  object: 'upstream' | 'model',
  name: string,
  entry: StoredEntry,
  revision = 1n,
): StoredObject => ({
  object,
  name,
  entry,
  revision,
  by: 'alice',
  atMs: 0,
})
const gpu = (name: string, host = name) =>
  stored('upstream', name, { dialect: 'openai', baseUrl: `http://${host}/v1` })
const bge = (...deployments: readonly StoredEntry[]) =>
  stored('model', 'bge', { kind: 'embedding', embedding: { dimensions: 8 }, deployments })

function effects(before: readonly StoredObject[], after: readonly StoredObject[], renamedFrom?: string) {
  const names = new Set([...before, ...after].map(({ object, name }) => `${object} ${name}`))
  const objects = [...names].flatMap((key): ChangedObject[] => {
    const [object, name] = key.split(' ') as ['upstream' | 'model', string]
    if (name === renamedFrom) return []
    const isRenamed = object === 'upstream' && renamedFrom !== undefined && name === 'new'
    const entryIn = (all: readonly StoredObject[], of: string) =>
      all.find((one) => one.object === object && one.name === of)?.entry ?? null
    const [was, is] = [entryIn(before, isRenamed ? renamedFrom : name), entryIn(after, name)]
    if (JSON.stringify(was) === JSON.stringify(is) && !isRenamed) return []
    return [{ object, name, ...(isRenamed && { renamedFrom }), before: was, after: is }]
  })
  const plan = {
    objects,
    after,
    extendedBefore: loaded.extend(before),
    extendedAfter: loaded.extend(after),
    problems: [],
  }
  const view = {
    credentials: new Set(['a']),
    calls: new Map([
      ['bge/a', 51],
      ['bge/b', 49],
    ]),
  }
  return effectsOf(plan, view).map(({ text }) => text)
}

const [A, B] = [gpu('a'), gpu('b')]

test('what a change means is said in words: shares, fallbacks, prices and keys', () => {
  const before = [A, B, bge({ upstream: 'a', weight: 50 }, { upstream: 'b', weight: 50 })]
  for (const [after, expected] of [
    [
      [A, B, bge({ upstream: 'a', weight: 70 }, { upstream: 'b', weight: 30 })],
      [
        'a gets about 70% of calls (51% in the last 24 h).',
        'b gets about 30% of calls (49% in the last 24 h).',
      ],
    ],
    [
      [A, B, bge({ upstream: 'a', weight: 50 }, { upstream: 'b', weight: 50, priority: 1 })],
      [
        'a gets about 100% of calls (51% in the last 24 h).',
        'b is a fallback, used only when the tiers before it are unhealthy or at capacity.',
      ],
    ],
    [
      [
        A,
        B,
        bge(
          { upstream: 'a', weight: 50, price: 'free' },
          { upstream: 'b', weight: 50, price: { usdPerMillionTokens: 3 } },
        ),
      ],
      [
        'a is billed at $0. Past calls keep their price.',
        'b is billed at $3 per million tokens. Past calls keep their price.',
      ],
    ],
    [[A, B], ['Callers of bge get 404 model_not_found.']],
    [
      [gpu('a', 'moved'), B, bge({ upstream: 'a', weight: 50 }, { upstream: 'b', weight: 50 })],
      ['a has another address, so its key is dropped. Replace it after you save.'],
    ],
  ] as const)
    assert.deepEqual(effects(before, after), expected)
  assert.deepEqual(effects([A], []), ['The key of a is deleted. Reverting does not bring it back.'])
  assert.deepEqual(effects([A], [gpu('new', 'a')], 'a'), [
    'a is called new. It keeps its key, prices and space checks; past calls stay under a.',
  ])
  assert.deepEqual(effects([A], [A, bge({ upstream: 'a' })]), [
    'Callers can use bge.',
    'a gets about 100% of calls (100% in the last 24 h).',
  ])
})

test('a change is turned around from what the store holds now, and what is gone needs no step', () => {
  const [entry, other] = [{ baseUrl: 'http://a' }, { baseUrl: 'http://b' }]
  const changes: readonly ChangedObject[] = [
    { object: 'upstream', name: 'made', before: null, after: entry },
    { object: 'upstream', name: 'gone', before: null, after: entry },
    { object: 'upstream', name: 'new', renamedFrom: 'old', before: entry, after: other },
    { object: 'model', name: 'deleted', before: entry, after: null },
  ]
  const now = [stored('upstream', 'made', entry, 7n), stored('upstream', 'new', other, 7n)]
  assert.deepEqual(reverseOf(changes, now), [
    { object: 'upstream', name: 'made', entry: null, base: 7n },
    { object: 'upstream', name: 'new', entry, base: 7n, renameTo: 'old' },
    { object: 'model', name: 'deleted', entry, base: null },
  ])
  const kept = changes.filter(({ name }) => name !== 'gone')
  assert.deepEqual(
    [isChangedSince(7n, kept, now), isChangedSince(7n, changes, now), isChangedSince(6n, kept, now)],
    [false, true, true],
  )
})

test('a preview has the changed lines with their surroundings, and says which lines are those of the file', () => {
  const lines = (texts: readonly string[]) =>
    texts.map((text, index) => ({ text, declaredAt: text === 'new' ? null : index + 1 }))
  const before = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`)
  const {
    lines: shown,
    added,
    removed,
  } = textDiff(lines(before), lines(before.with(49, 'new')), 'torana.yaml')
  assert.deepEqual([added, removed, shown.length, shown[0]?.number], [1, 1, 62, 20])
  assert.deepEqual(
    shown.slice(29, 33).map(({ op, number, source }) => [op, number, source?.kind ?? null]),
    [
      [' ', 49, 'file'],
      ['-', 50, 'file'],
      ['+', 50, null],
      [' ', 51, 'file'],
    ],
  )
  assert.equal(textDiff(lines(before), lines(before), 'torana.yaml').lines.length, 100)
})

test('a key counts for the address that it was stored with, under the new name of a renamed upstream', () => {
  const record = (upstream: string, baseUrl: string, hasSecret = true) => ({
    upstream,
    baseUrl,
    hasSecret,
    updatedAtMs: 0,
    tail: undefined,
  })
  const records = [
    record('a', 'http://a/v1'),
    record('b', 'http://elsewhere'),
    record('old', 'http://c/v1'),
    record('d', '', false),
  ]
  const { catalog } = loaded.extend([A, B, gpu('new', 'c')])
  assert.deepEqual(sealedUpstreams(records, catalog, new Map([['old', 'new']])), ['a', 'new'])
})

test('a load of the file is summed up by names', () => {
  const names = { added: ['a', 'b', 'c', 'd'], removed: [], changed: ['e'] }
  const none = { added: [], removed: [], changed: [] }
  assert.equal(
    loadSummary({ models: names, upstreams: none }),
    'Reloaded: added models a, b, c and 1 more; changed models e',
  )
  assert.equal(loadSummary({ models: none }), 'Reloaded without a change')
})
