import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startFakeProvider, type FakeProvider } from './server.ts'
import { embed } from './test-client.ts'

let provider: FakeProvider
let url: string
before(async () => {
  provider = await startFakeProvider()
  url = `${provider.url}/plain`
})
after(() => provider.close())

describe('plain refuses what OpenAI refuses', () => {
  const bad: [title: string, fields: object][] = [
    ['no model', { model: undefined }],
    ['no input', { input: undefined }],
    ['an empty string', { input: '' }],
    ['an empty list', { input: [] }],
    ['an empty string in a list', { input: ['x', ''] }],
    ['texts mixed with tokens', { input: ['x', [1]] }],
    ['an unknown token', { input: [100_256] }],
    ['an unknown encoding', { encoding_format: 'md5' }],
    ['dimensions beyond the width', { dimensions: 17 }],
    ['dimensions of 0', { dimensions: 0 }],
    ['half a dimension', { dimensions: 2.5 }],
    ['2049 inputs', { input: Array.from({ length: 2049 }, () => 'x') }],
  ]
  for (const [title, fields] of bad) {
    it(title, async () => {
      const answer = await embed(url, fields)
      assert.equal(answer.status, 400)
      assert.equal(answer.json().error?.type, 'invalid_request_error')
    })
  }
})
