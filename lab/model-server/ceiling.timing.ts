import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { defaultWords, measureCeiling } from './ceiling.ts'
import { SentenceModel } from './model.ts'

/** Of several measurements the best: what a run costs is spent each time, a neighbour in the shared cache is not there each time. */
const measurements = 3

const model = await SentenceModel.load()
after(() => model.close())

test('a batch costs the processor far less than its texts one by one', async () => {
  const gains: number[] = []
  for (let number = 0; number < measurements && !gains.some((gain) => gain > 2); number += 1) {
    const rows = await measureCeiling(model, defaultWords)
    const perCpuSecond = (size: number) =>
      rows.find(({ batch }) => batch === size)?.textsPerCpuSecond ?? Number.NaN
    gains.push(perCpuSecond(32) / perCpuSecond(1))
  }
  assert.ok(Math.max(...gains) > 2, gains.join())
})
