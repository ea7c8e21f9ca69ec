/** Files and batches in a backup: their rows, their bytes, and unfinished lines. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { BatchCaller, embeddingLines } from '#test/support/batches.ts'
import { startGateway, type Gateway } from '#test/support/gateway.ts'
import { eventually, runTorana, temporaryFolder } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

const LINES = 1500
const folder = temporaryFolder()
const texts = (word: string): string[] => Array.from({ length: LINES }, (_, line) => `${word} ${line}`)

/** A separate database and a folder of blobs. */
async function aPlace(name: string): Promise<Record<string, string>> {
  return {
    DATABASE_URL: (await testPostgres('nothing')).url,
    ASSETS_URL: `file:${join(folder, name)}`,
    TORANA_SECRET: 'the secret of these two places',
  }
}

function startAt(env: Readonly<Record<string, string>>): Promise<Gateway> {
  return startGateway({
    models: {
      'plain-w8': { on: 'plain' },
      'slow-w8': { on: 'slow-300', deploymentLimits: { concurrency: 1 } },
    },
    env,
  })
}

async function torana(args: string, env: Readonly<Record<string, string>>): Promise<void> {
  const { exit, stderr } = runTorana({ folder, env, args: args.split(' ') })
  assert.equal(await exit, 0, stderr())
}

const contentOf = async (caller: BatchCaller, file: string | null): Promise<string> => {
  const answer = await caller.fetch(`/files/${file}/content`)
  assert.equal(answer.status, 200)
  return answer.text()
}

test('after a restore files and results are what they were, and a batch that was running goes on', async () => {
  const from = await aPlace('from')
  const first = await startAt(from)
  const before = new BatchCaller(first.url)
  const input = embeddingLines('plain-w8', texts('done'))
  const done = await before.ended((await before.create(await before.upload(input))).id)
  const output = await contentOf(before, done.output_file_id)
  const running = await before.create(await before.upload(embeddingLines('slow-w8', texts('running'))))
  await eventually(async () => assert.ok((await before.get(running.id)).request_counts.completed > 0))
  await first.stop()
  await torana('backup torana.gz --pictures', from)

  const to = await aPlace('to')
  await torana('restore torana.gz', to)
  const after = new BatchCaller((await startAt(to)).url)
  assert.deepEqual(await after.get(done.id), done)
  assert.equal(await contentOf(after, done.input_file_id), input)
  assert.equal(await contentOf(after, done.output_file_id), output)
  const ended = await after.ended(running.id)
  assert.deepEqual(
    [ended.status, ended.request_counts],
    ['completed', { total: LINES, completed: LINES, failed: 0 }],
  )
  const ids = (await after.lines(ended.output_file_id)).map(({ custom_id }) => custom_id)
  assert.deepEqual([ids.length, new Set(ids).size], [LINES, LINES])
})
