import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultLimits } from '#core/settings.ts'
import type { ImageJob } from '#ports/image-jobs.ts'
import { memoryImages } from '#test/support/image-parts.ts'
import { jobView } from './job-view.ts'

test("words of any language come through in a job's error, since its text is ASCII", async () => {
  const message = 'Ungültig: 不允许 … 🎨'
  const job: ImageJob = {
    id: '01930000-0000-7000-8000-000000000000',
    project: 'p',
    keyId: 'p/k',
    player: undefined,
    model: 'bild-größe',
    state: 'failed',
    createdAtMs: 0,
    endedAtMs: 1,
    result: JSON.stringify({ code: 'content_policy_violation', message }),
  }
  const outside = {
    ...memoryImages(),
    limits: defaultLimits,
    docsUrl: () => 'http://docs.test',
    yieldLoop: () => Promise.resolve(),
  }
  const text = (await Array.fromAsync(jobView(job, outside))).join('')
  assert.match(text, /^[\x20-\x7e]+$/)
  const { model, error } = JSON.parse(text) as { model: string; error: { message: string } }
  assert.deepEqual([model, error.message], [job.model, message])
})
