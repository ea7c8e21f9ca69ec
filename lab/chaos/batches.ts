/**
 * `npm run lab -- chaos/batches`: a large batch on three nodes that are killed in turn. `--lines 1000000 --kills
 * 20 --postgres-kill --blob-kill` also kills PostgreSQL and a separate blob store (S3) once each. `--
 * --contents 10000` runs a batch of lines with images to embed, `-- --pictures 1000` a batch of images to make, `-- --restart-all` kills all nodes together.
 */
import { test } from 'node:test'
import { parseArgs } from 'node:util'
import assert from 'node:assert/strict'
import { CALLS_OF_A_NODE, runWithKills } from './batches/kills.ts'
import { PICTURES_OF_A_NODE, runPicturesWithKills } from './batches/picture-kills.ts'
import { restartAll } from './batches/restart-all.ts'
import { publishTexts } from '../book/publish.ts'

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '200000' },
    contents: { type: 'string' },
    pictures: { type: 'string' },
    'restart-all': { type: 'boolean', default: false },
    nodes: { type: 'string', default: '3' },
    kills: { type: 'string', default: '6' },
    'every-ms': { type: 'string', default: '20000' },
    'call-ms': { type: 'string', default: '200' },
    'postgres-kill': { type: 'boolean', default: false },
    'blob-kill': { type: 'boolean', default: false },
    /** Puts the figure that pages cite into docs/figures.json. */
    write: { type: 'boolean', default: false },
  },
})

const plan = {
  lines: Number(values.pictures ?? values.contents ?? values.lines),
  hasImages: values.contents !== undefined,
  nodes: Number(values.nodes),
  kills: Number(values.kills),
  everyMs: Number(values['every-ms']),
  callMs: Number(values['call-ms']),
  killsPostgres: values['postgres-kill'],
  killsBlobs: values['blob-kill'],
  say: (line: string) => console.log(line),
}

test(
  'every picture once, none lost and none bought twice, however often nodes are killed',
  { timeout: 3_600_000, skip: values.pictures === undefined },
  async () => {
    const report = await runPicturesWithKills(plan)
    console.table(report)
    const { lost, twice, boughtTwice, wrongPictures, paidAndNotGiven, callsMissing, completed, unknown } =
      report
    assert.deepEqual(
      [lost, twice, boughtTwice, wrongPictures, paidAndNotGiven, callsMissing],
      [0, 0, 0, 0, 0, 0],
    )
    assert.equal(completed + unknown, plan.lines)
    assert.ok(report.killsInProgress > 0, 'all pictures were done before the first kill')
    assert.ok(unknown <= plan.kills * PICTURES_OF_A_NODE, `${unknown} unknown pictures`)
  },
)

test(
  'a batch goes on within 20 seconds after all nodes were killed at once',
  { timeout: 3_600_000, skip: !values['restart-all'] },
  async () => {
    const report = await restartAll(plan)
    console.table(report)
    assert.deepEqual([report.completed, report.lost], [plan.lines, 0])
    assert.ok(report.goesOnAfterSeconds <= 20, `${report.goesOnAfterSeconds} s`)
  },
)

test(
  'every line once, every call in the ledger, however often nodes are killed',
  { timeout: 7_200_000, skip: values.pictures !== undefined || values['restart-all'] },
  async () => {
    const { kills } = plan
    const report = await runWithKills(plan)
    console.table(report)
    const { lines, completed, lost, twice, wrongVectors, callsMissing, callsUnknown } = report
    assert.deepEqual([completed, lost, twice, wrongVectors, callsMissing], [lines, 0, 0, 0, 0])
    assert.deepEqual([report.callsDoubled, report.imagesMissing], [0, 0])
    assert.ok(report.killsInProgress > 0, 'all lines were done before the first kill')
    assert.ok(callsUnknown <= kills * CALLS_OF_A_NODE, `${callsUnknown} unknown calls`)
    assert.equal(report.batchNanoUsd, report.ledgerNanoUsd)
    assert.equal(report.batchUnknownNanoUsd, report.ledgerUnknownNanoUsd)
    if (values.write) publishTexts('chaos/batches', { 'batches.chaos.lost': `${lost} lines were lost` })
  },
)
