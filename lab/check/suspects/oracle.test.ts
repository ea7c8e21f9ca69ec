import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge } from './oracle.ts'

const WINDOW = { fromMs: 100_000, untilMs: 200_000 }

test('an answer is suspect if it has a new vector or one of the window, and only near the edge it may be either', () => {
  const answerOf = (requestId: string, madeAtMs: readonly number[], hasNew = false, isMixed = false) => ({
    requestId,
    lines: [],
    vectors: 1,
    hasNew,
    madeAtMs,
    isMixed,
  })
  const { suspect, edge } = judge(
    [
      answerOf('before', [91_000]),
      { ...answerOf('arrived before', [94_000]), arrivedAtMs: 94_900 },
      { ...answerOf('written within', [94_000]), arrivedAtMs: 95_100 },
      answerOf('at the begin', [94_500]),
      answerOf('within', [10_000, 150_000]),
      answerOf('at the end', [200_500]),
      answerOf('after', [202_000]),
      answerOf('of another upstream', []),
      answerOf('new', [], true),
      answerOf('of both', [150_000], false, true),
      answerOf('new of both', [150_000], true, true),
    ],
    [WINDOW],
  )
  assert.deepEqual([...suspect.keys()], ['within', 'new', 'new of both'])
  assert.deepEqual([...edge], ['written within', 'at the begin', 'at the end', 'of both'])
})
