/** An upstream that answers with another model than asked for: callers get the answer, and operators see it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_TOKEN } from '#test/support/control.ts'
import { startGateway } from '#test/support/gateway.ts'
import { askImages, SMALL } from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

const { url: databaseUrl } = await testPostgres()
const gateway = await startGateway({
  env: {
    DATABASE_URL: databaseUrl,
    TORANA_SECRET: 'the secret of these tests',
    TORANA_ADMIN_TOKEN: ADMIN_TOKEN,
  },
  models: {
    'same-w16': { on: 'plain' },
    'swapped-w16': { on: 'other-model' },
    'known-w16': { on: 'other-model+key-known', answersAs: ['another-model'] },
  },
  images: { 'swapped-image': { on: 'other-model+key-image' } },
})
const { controlUrl } = gateway
const control = (path: string) =>
  fetch(controlUrl + path, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })

interface Row {
  readonly id: string
  readonly substitutions: readonly {
    readonly asked: string
    readonly answered: string
    readonly answers: number
  }[]
}

test('it is answered, counted and shown by the names, unless the operator knows the name', async () => {
  // One input is the plain form that is not parsed, two are parsed.
  for (const model of ['same-w16', 'swapped-w16', 'known-w16'])
    for (const input of ['a', ['a', 'b']]) {
      const { status, body } = await gateway.ask({ model, input })
      assert.deepEqual([status, body.model], [200, model])
    }
  const image = await askImages(gateway, { model: 'swapped-image', size: SMALL })
  assert.equal(image.status, 200)
  const metrics = await (await control('/metrics')).text()
  assert.deepEqual(
    metrics.match(/^torana_substituted_answers_total.*$/gm)?.map((line) => line.replace(/^[^{]*/, '')),
    [
      '{deployment="swapped-w16/other-model",asked="swapped-w16",answered="another-model"} 2',
      '{deployment="swapped-image/other-model.key-image",asked="swapped-image",answered="another-model"} 1',
    ],
  )
  await eventually(async () => {
    const { data } = (await (await control('/api/v1/deployments')).json()) as { data: readonly Row[] }
    assert.deepEqual(
      data.map(({ id, substitutions: [first] }) => [id, first?.asked, first?.answered, first?.answers]),
      [
        ['same-w16/plain', undefined, undefined, undefined],
        ['swapped-w16/other-model', 'swapped-w16', 'another-model', 2],
        ['known-w16/other-model.key-known', undefined, undefined, undefined],
        ['swapped-image/other-model.key-image', 'swapped-image', 'another-model', 1],
      ],
    )
  })
})
