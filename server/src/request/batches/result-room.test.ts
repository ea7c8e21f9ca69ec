import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BatchLine } from '#core/batch/line.ts'
import { resultBytes } from '#core/batch/room.ts'
import { defaultLimits } from '#core/settings.ts'
import type { HeldChunk, WantedRoom } from '#ports/batches.ts'
import { ENDLESS_ROOM } from '#ports/disk-room.ts'
import { ResultRoom } from './result-room.ts'

const LINES = ['a', 'b', 'c', 'd'].map((customId, number): BatchLine => ({
  customId,
  number,
  firstByte: 0,
  request: undefined,
  fault: undefined,
})) as [BatchLine, ...BatchLine[]]
const LINE_BYTES = resultBytes(LINES[0], () => undefined)
const ALL_BYTES = LINES.length * LINE_BYTES

/** A project with this much room left. */
function aRoom(leftBytes: number) {
  const asked: WantedRoom[] = []
  const held = { hold: { batchId: 'b', chunk: 1, token: 1 }, batch: { project: 'p' } } as HeldChunk
  const room = new ResultRoom(held, {
    batches: {
      takeRoom: async (_hold, wanted) => {
        asked.push(wanted)
        return leftBytes < wanted.leastBytes ? 0 : Math.min(leftBytes, wanted.mostBytes)
      },
    },
    limits: defaultLimits,
    catalog: () => ({ models: new Map(), retired: new Map(), projects: [] }),
    diskRoom: ENDLESS_ROOM,
  })
  return { room, asked }
}

for (const [name, leftBytes, resultBytes, linesLeft, lines, mostBytes] of [
  ['room for all of the chunk is taken in one step', 1e9, 0, 10, 4, 10 * LINE_BYTES],
  ['results that the chunk has need room too', 1e9, 500, 10, 4, 500 + 10 * LINE_BYTES],
  ['the lines themselves need room, though fewer are left', 1e9, 0, 1, 4, ALL_BYTES],
  ['as many lines run as there is room for', 3 * LINE_BYTES - 1, 0, 4, 2, ALL_BYTES],
  ['room to the byte is enough', 3 * LINE_BYTES, 0, 4, 3, ALL_BYTES],
  ['room for one line is enough', LINE_BYTES, 0, 4, 1, ALL_BYTES],
] as const)
  test(name, async () => {
    const { room, asked } = aRoom(leftBytes)
    const given = await room.linesFor(LINES, () => ({ resultBytes, linesLeft }))
    assert.equal(given.lines, lines)
    assert.deepEqual(asked, [{ leastBytes: resultBytes + LINE_BYTES, mostBytes }])
  })

test('without room for the first line nothing runs, and the fault says so', async () => {
  const { room } = aRoom(LINE_BYTES - 1)
  await assert.rejects(
    room.linesFor(LINES, () => ({ resultBytes: 0, linesLeft: 4 })),
    { code: 'too_many_files' },
  )
})

test('lines that run at once share the room of their chunk, and leave it to the next ones', async () => {
  const { room, asked } = aRoom(6 * LINE_BYTES)
  const ofChunk = () => ({ resultBytes: 0, linesLeft: 4 })
  const first = await room.linesFor(LINES, ofChunk)
  const second = await room.linesFor(LINES, ofChunk)
  assert.deepEqual([first.lines, second.lines], [4, 2])
  assert.equal(asked.at(-1)?.leastBytes, ALL_BYTES + LINE_BYTES)
  first[Symbol.dispose]()
  second[Symbol.dispose]()
  assert.equal((await room.linesFor(LINES, ofChunk)).lines, 4)
})
