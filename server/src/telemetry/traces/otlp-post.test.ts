import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { postOtlp, type OtlpAnswer } from './otlp-post.ts'

let answer: { readonly status: number; readonly type: string; readonly hex: string }
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(answer.status, { 'content-type': answer.type }).end(Buffer.from(answer.hex, 'hex'))
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => {
  server.closeAllConnections()
  server.close()
})
const receiver = {
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
  headers: {},
  timeoutMs: 10_000,
}
const PROTOBUF = 'application/x-protobuf'
/** `ExportTraceServiceResponse`s, as the official library encodes them. */
const REJECTED_300 = '0a0c08ac021207746f6f206f6c64'
const WARNED = '0a0912077761726e696e67'
const TAKEN: OtlpAnswer = { problem: undefined, rejected: 0, isFinal: true }

const ANSWERS: readonly [name: string, given: typeof answer, expected: OtlpAnswer][] = [
  ['an empty answer', { status: 200, type: PROTOBUF, hex: '' }, TAKEN],
  ['a warning', { status: 200, type: PROTOBUF, hex: WARNED }, TAKEN],
  ['an answer in words', { status: 202, type: 'text/plain', hex: REJECTED_300 }, TAKEN],
  [
    'spans that were rejected',
    { status: 200, type: PROTOBUF, hex: REJECTED_300 },
    { problem: 'it rejected 300 of them', rejected: 300, isFinal: true },
  ],
  [
    'a refusal',
    { status: 400, type: PROTOBUF, hex: '' },
    { problem: 'it answered 400', rejected: undefined, isFinal: true },
  ],
  [
    'a busy receiver',
    { status: 503, type: PROTOBUF, hex: '' },
    { problem: 'it answered 503', rejected: undefined, isFinal: false },
  ],
]

for (const [name, given, expected] of ANSWERS)
  test(`what an OTLP receiver took is read from its answer: ${name}`, async () => {
    answer = given
    assert.deepEqual(await postOtlp(receiver, new Uint8Array(3)), expected)
  })

test('an OTLP receiver that is unreachable may take the message later', async () => {
  const { isFinal, rejected, problem } = await postOtlp(
    { ...receiver, url: 'http://127.0.0.1:9/v1/traces' },
    new Uint8Array(3),
  )
  assert.deepEqual([isFinal, rejected], [false, undefined])
  assert.match(problem ?? '', /ECONNREFUSED|bad port/)
})
