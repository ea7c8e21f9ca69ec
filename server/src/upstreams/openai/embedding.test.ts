import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { embeddingBody, fieldsOf } from './embedding.ts'

const anyCall = fc.record<EmbeddingCall>({
  callId: fc.constant('c'),
  project: fc.constant('p'),
  deployment: fc
    .record({ upstreamModel: fc.string({ unit: 'binary' }), floats: fc.boolean(), base64: fc.boolean() })
    .map(({ upstreamModel, floats, base64 }) => {
      const { capabilities, ...deployment } = aDeployment({})
      const encodings = [...(floats ? (['float'] as const) : []), ...(base64 ? (['base64'] as const) : [])]
      return { ...deployment, upstreamModel, capabilities: { ...capabilities, encodings } }
    }),
  inputs: fc.oneof(
    fc.record({ kind: fc.constant('texts' as const), texts: fc.array(fc.string({ unit: 'binary' })) }),
    fc.record({ kind: fc.constant('tokens' as const), tokens: fc.array(fc.array(fc.nat())) }),
  ),
  dimensions: fc.option(fc.nat(), { nil: undefined }),
  width: fc.constant(4),
  inputType: fc.option(fc.string(), { nil: undefined }),
  inputTypeField: fc.constant('input_type'),
  user: fc.option(fc.string(), { nil: undefined }),
  extraFields: fc.oneof(fc.constant({}), fc.dictionary(fc.string(), fc.jsonValue())),
  wantedForm: fc.constantFrom('text', 'base64', 'float32'),
  timeoutMs: fc.constant(1000),
})

test('a body is the JSON of its fields, whether it is written by hand or not', () => {
  fc.assert(fc.property(anyCall, (call) => assert.equal(embeddingBody(call), JSON.stringify(fieldsOf(call)))))
})
