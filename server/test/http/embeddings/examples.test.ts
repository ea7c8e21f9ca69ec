/** The examples for images run as docs/embed-images.md prints them. `npm run lab -- check/recipes` runs the one in Python. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startForContents } from '#test/support/content-examples.ts'
import { REPOSITORY } from '#test/support/docs-pages.ts'

const env = { ...process.env, ...(await startForContents()) }

async function printed(program: string, file: string): Promise<string> {
  const run = promisify(execFile)
  const { stdout } = await run(program, [`docs/examples/clients/${file}`], { cwd: REPOSITORY, env })
  return stdout
}

test('curl gets one vector for an image with its text, and the tokens of both', async () => {
  const { data, usage } = JSON.parse(await printed('sh', 'contents.sh')) as {
    readonly data: readonly { readonly embedding: readonly number[] }[]
    readonly usage: unknown
  }
  assert.deepEqual(
    data.map(({ embedding }) => embedding.length),
    [64],
  )
  const prompt_tokens_details = { text_tokens: 5, image_tokens: 258 }
  assert.deepEqual(usage, { prompt_tokens: 263, total_tokens: 263, prompt_tokens_details })
})

test('openai for Node compares words with three images', async () => {
  assert.match(
    await printed(process.execPath, 'contents.mjs'),
    /^-?0\.\d{3} docs\/pictures\/harbour\.png\n-?0\.\d{3} \S+lighthouse\.png\n-?0\.\d{3} \S+gull\.png\nimage tokens 774\n$/,
  )
})
