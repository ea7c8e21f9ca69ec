/** An upstream that answers with another model than asked for: callers get the answer, and operators see it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_TOKEN } from '#test/support/control.ts'
import { startGateway } from '#test/support/gateway.ts'
import { askImages, SMALL } from '#test/support/image-answers.ts'

const gateway = await startGateway({
  env: { TORANA_ADMIN_TOKEN: ADMIN_TOKEN },
  models: {
    'same-w16': { on: 'plain' },
    'swapped-w16': { on: 'other-model' },
    'known-w16': { on: 'other-model+key-known', answersAs: ['another-model'] },
  },
  images: { 'swapped-image': { on: 'other-model+key-image' } },
})

test('it is answered, and counted by the names, unless the operator knows the name', async () => {
  // One input is the plain form that is not parsed, two are parsed.
  for (const model of ['same-w16', 'swapped-w16', 'known-w16'])
    for (const input of ['a', ['a', 'b']]) {
      const { status, body } = await gateway.ask({ model, input })
      assert.deepEqual([status, body.model], [200, model])
    }
  const image = await askImages(gateway, { model: 'swapped-image', size: SMALL })
  assert.equal(image.status, 200)
  const answer = await fetch(`${gateway.controlUrl}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  const metrics = await answer.text()
  assert.deepEqual(
    metrics.match(/^torana_substituted_answers_total.*$/gm)?.map((line) => line.replace(/^[^{]*/, '')),
    [
      '{deployment="swapped-w16/other-model",asked="swapped-w16",answered="another-model"} 2',
      '{deployment="swapped-image/other-model.key-image",asked="swapped-image",answered="another-model"} 1',
    ],
  )
})
