/** What calls in the background leave free for people, row by row. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backgroundRoom, withReserve } from './background-reserve.ts'

const ROOMS: readonly (readonly [why: string, limit: number, people: number | undefined, room: number])[] = [
  ['no limit leaves nothing to reserve', Number.POSITIVE_INFINITY, 0, Number.POSITIVE_INFINITY],
  ['the only place is for everybody', 1, undefined, 1],
  ['the only place is for everybody, people or not', 1, 0, 1],
  ['few places: one stays free without people', 2, undefined, 1],
  ['few places: one stays free', 10, 0, 9],
  ['few places: one stays free beside people who hold all', 10, 10, 9],
  ['the most that counts as few', 15, undefined, 14],
  ['many places without people are all taken', 16, undefined, 16],
  ['many places: a part of all', 16, 0, 15],
  ['7 % of all', 64, 0, 60],
  ['7 % of all, rounded down', 1000, 0, 930],
  ['11 % of what people leave, if that is less', 64, 30, 61],
  ['nothing where people leave hardly any', 64, 60, 64],
  ['nothing where people hold more than the limit', 64, 100, 64],
]

for (const [why, limit, people, room] of ROOMS)
  test(`of ${limit} calls at once, beside ${people ?? 'no'} people, the background may have ${room}: ${why}`, () => {
    assert.equal(backgroundRoom(limit, people), room)
  })

const RATES: readonly (readonly [why: string, perMinute: number, amount: number, free: number])[] = [
  ['a fifth of the rate beside its own amount', 100, 10, 30],
  ['a fifth, rounded up', 7, 1, 3],
  ['a fifth of a small rate', 3, 1, 2],
  ['the whole rate at most', 100, 90, 100],
  ['the whole rate at most, to the unit', 100, 81, 100],
  ['just within the rate', 100, 79, 99],
]

for (const [why, perMinute, amount, free] of RATES)
  test(`of ${perMinute} per minute ${free} must be free before the background takes ${amount}: ${why}`, () => {
    const limit = { id: 'deployment:d:tokens', project: 'p', unit: 'tokens', perMinute } as const
    assert.deepEqual(withReserve({ limit, amount }), { limit, amount: free })
  })
