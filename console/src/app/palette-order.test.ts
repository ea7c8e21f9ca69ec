import { test } from 'node:test'
import assert from 'node:assert/strict'
import { fitOf, ordered, readUses, used, type Uses } from './palette-order.ts'

const entry = (title: string, also = '', group = 'actions') => ({ id: title, group, title, also })

test('every typed word must be found; a start of the title fits best, then a word of it, then another word for it', () => {
  const signOut = entry('Sign out', 'log out logout')
  for (const [typed, better] of [
    ['sign', 'out'],
    ['out', 'log'],
    ['log', 'ign'],
  ] as const)
    assert.ok(fitOf(signOut, typed) > fitOf(signOut, better), `${typed} > ${better}`)
  assert.ok(fitOf(signOut, 'logout') > 0)
  assert.ok(fitOf(signOut, 'OUT sign') > 0)
  assert.equal(fitOf(signOut, 'sign key'), 0)
  assert.equal(fitOf(signOut, 'ogou'), 0, 'other words are found by their start alone')
  assert.equal(fitOf(signOut, ''), 1)
})

test('among equal fits the entry that was used more comes first, and a better fit comes before it', () => {
  const [key, budget, news] = [entry('New key…'), entry('New budget…'), entry('Break news')]
  let uses: Uses = []
  for (let n = 0; n < 30; n++) uses = used(used(uses, news.id), budget.id)
  const order = ordered([news, key, budget], 'new', uses).map(({ title }) => title)
  assert.deepEqual(order, ['New budget…', 'New key…', 'Break news'])
})

test('groups come in the order of their best entry, and stay together', () => {
  const choices = [
    entry('text-embedding-3-small', '', 'models'),
    entry('Prices', '', 'pages'),
    entry('Set a price', '', 'actions'),
    entry('Budgets', 'price', 'pages'),
  ]
  const order = ordered(choices, 'price', []).map(({ title }) => title)
  assert.deepEqual(order, ['Prices', 'Budgets', 'Set a price'])
})

test('what is remembered is bounded, the latest first, and a broken memory is none', () => {
  let uses: Uses = []
  for (let n = 0; n < 60; n++) uses = used(uses, `entry ${n}`)
  uses = used(uses, 'entry 30')
  assert.deepEqual([uses.length, uses[0], uses[1]?.[0]], [40, ['entry 30', 2], 'entry 59'])
  assert.deepEqual(readUses(JSON.stringify(uses)), uses)
  for (const text of [null, '', '{', '{"a":1}', '[1, ["a"], ["a", "b"]]'])
    assert.deepEqual(readUses(text), [])
})
