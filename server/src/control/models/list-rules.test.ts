import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Project } from '#core/catalog/catalog.ts'
import { declaredLists, isWanted, modelsQuery, sorted, usableBy } from './list-rules.ts'
import type { ModelRow } from './row-rules.ts'

test('a model is shown to those who have a key for it, by its id or an alias', () => {
  const model = { id: 'm', aliases: ['old-m', 'older-m'] }
  for (const [lists, isUsable] of [
    // Developers without a key see what their first key can ask for.
    [[], true],
    [[undefined], true],
    [[null], true],
    [[['other'], undefined], true],
    [[['other'], null], true],
    [[['m']], true],
    [[['other'], ['m']], true],
    [[['older-m']], true],
    [[['other'], ['another']], false],
    [[[]], false],
  ] as const)
    assert.equal(usableBy(lists)(model), isUsable, JSON.stringify(lists))
})

test('the lists of a configuration are those of the keys of the named projects', () => {
  const key = (models?: string[]) => ({ name: 'k', secret: 's', models })
  const declared: Project[] = [
    { name: 'ads', keys: [key(['m']), key()] },
    { name: 'search', keys: [key(['n'])] },
  ]
  assert.deepEqual(declaredLists(declared, ['ads', 'missing']), [['m'], undefined])
})

const ROW = {
  id: 'Embed-Large',
  kind: 'embedding',
  aliases: ['ada'],
  can: { base64: 'native', dimensions: 'emulated' },
  deployments: [
    { upstream: 'OpenAI', state: 'healthy' },
    { upstream: 'azure', state: 'healthy' },
  ],
} as unknown as ModelRow
const LIMITED = {
  ...ROW,
  deployments: [{ ...ROW.deployments[0], state: 'limited' }, ROW.deployments[1]],
} as ModelRow

test('a list shows the models that fit every part of the question', () => {
  for (const [row, query, isShown] of [
    [ROW, {}, true],
    [ROW, { kind: 'embedding' }, true],
    [ROW, { kind: 'image' }, false],
    [ROW, { upstream: 'azure' }, true],
    [ROW, { upstream: 'openai' }, false],
    [ROW, { health: 'well' }, true],
    [ROW, { health: 'ill' }, false],
    [LIMITED, { health: 'well' }, false],
    [LIMITED, { health: 'ill' }, true],
    [ROW, { can: 'dimensions' }, true],
    [ROW, { can: ['dimensions', 'base64'] }, true],
    [ROW, { can: ['dimensions', 'split'] }, false],
    [ROW, { can: 'split' }, false],
    [ROW, { q: 'd-l' }, true],
    [ROW, { q: 'ADA' }, true],
    [ROW, { q: 'zur' }, true],
    [ROW, { q: 'openai' }, true],
    [ROW, { q: 'cohere' }, false],
    [ROW, { q: 'ada', kind: 'image' }, false],
  ] as const)
    assert.equal(isWanted(row, modelsQuery.parse(query)), isShown, JSON.stringify(query))
})

test('a list is in the order of the largest figure, then of names, and those without a figure are last', () => {
  const row = (id: string, requests: number, p95_ms: number | null, amount: string | undefined) =>
    ({
      id,
      last_day: { requests },
      last_hour: { p95_ms },
      price: amount === undefined ? [] : [{ amount }],
    }) as unknown as ModelRow
  const rows = [
    row('c', 5, null, '0'),
    row('b', 5, 90, ''),
    row('a', 9, 0, '0.13'),
    row('d', 0, 100, undefined),
  ]
  for (const [sort, ids] of [
    ['name', 'abcd'],
    ['requests', 'abcd'],
    ['p95', 'dbac'],
    ['price', 'acbd'],
  ] as const)
    assert.equal(
      sorted(rows, sort)
        .map(({ id }) => id)
        .join(''),
      ids,
      sort,
    )
  assert.equal(sorted([row('a', 1, 0, ''), row('b', 2, 0, '')], 'requests')[0]?.id, 'b')
  assert.equal(modelsQuery.parse({}).sort, 'requests')
})
