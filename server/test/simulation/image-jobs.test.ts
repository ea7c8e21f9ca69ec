import { test } from 'node:test'
import fc from 'fast-check'
import { memoryJobs, postgresJobs } from '#test/contract/image-jobs-open.ts'
import { runs } from '#test/support/arbitraries.ts'
import { jobCommands, runJobs } from './image-jobs-commands.ts'

const openPostgres = postgresJobs()

test('whatever happens to image jobs in memory, one holds each, and none is begun twice', async () => {
  await fc.assert(
    fc.asyncProperty(jobCommands(60), async (commands) => runJobs([await memoryJobs()], commands)),
    runs(500),
  )
})

test('whatever happens to image jobs, PostgreSQL and memory say the same', async () => {
  await fc.assert(
    fc.asyncProperty(jobCommands(40), async (commands) =>
      runJobs([await memoryJobs(), await openPostgres()], commands),
    ),
    runs(50),
  )
})
