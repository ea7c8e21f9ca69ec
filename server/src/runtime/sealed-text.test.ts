import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { signOnKeysOf } from './secret.ts'
import { textSeal } from './sealed-text.ts'

const sealOf = (current: string, previous?: string) => textSeal(signOnKeysOf({ current, previous }))
const seal = sealOf('a secret of these tests')

test('what was sealed opens, and the same text is never sealed alike', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const [one, two] = [seal.seal(text), seal.seal(text)]
      assert.notEqual(one, two)
      assert.equal(seal.open(one), Buffer.from(text).toString())
      assert.equal(seal.open(two), seal.open(one))
    }),
  )
})

test('what was changed, cut or sealed elsewhere does not open', () => {
  const sealed = Buffer.from(seal.seal('who it is'), 'base64url')
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.equal(seal.open(changed.toString('base64url')), undefined)
    assert.equal(seal.open(sealed.subarray(0, at).toString('base64url')), undefined)
  }
  assert.equal(seal.open(sealOf('another secret').seal('who it is')), undefined)
  assert.equal(seal.open('not even base64 !'), undefined)
})

test('what the previous secret sealed still opens', () => {
  const before = sealOf('the one before').seal('x')
  assert.equal(sealOf('the new one', 'the one before').open(before), 'x')
})
