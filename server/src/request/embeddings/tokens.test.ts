import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Input } from '#core/embedding/input.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { aModel } from '#test/support/models.ts'
import { withPrefix } from './inputs.ts'
import { mostTokens, partUseOf } from './tokens.ts'

test('what is reserved for contents covers the prefix that is still to come', () => {
  const [deployment, model] = [aDeployment(), aModel()]
  const bytesOf = (text: string): number => Buffer.byteLength(text)
  const input: Input = {
    kind: 'contents',
    contents: [{ parts: [{ kind: 'text', text: 'one' }] }, { parts: [{ kind: 'text', text: 'another' }] }],
  }
  const prefix = 'search_query: '
  const sent = withPrefix(input, prefix)
  const reserved = partUseOf(input, model, bytesOf, deployment, 'most', prefix)
  const used = partUseOf(sent, model, bytesOf, deployment, 'most')
  assert.equal(reserved?.text?.tokens, used?.text?.tokens)
  assert.equal(mostTokens(input, model, bytesOf, { prefix }), mostTokens(sent, model, bytesOf))
})
