import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { emulationsOf, inTiers } from './order.ts'

const anOffer = fc.record({
  deployment: fc.record({ priority: fc.nat(3) }),
  emulated: fc.subarray(['encoding_format', 'response_format', 'dimensions', 'input', 'n']),
})

test('offers stand by priority, then by how much is emulated, then as they were declared', () => {
  fc.assert(
    fc.property(fc.array(anOffer, { minLength: 1, maxLength: 8 }), (offers) => {
      const ordered = inTiers(offers)
      assert.equal(new Set(ordered).size, offers.length)
      for (const [index, offer] of ordered.entries()) {
        const before = ordered[index - 1]
        if (before === undefined) continue
        const byPriority = before.deployment.priority - offer.deployment.priority
        const byEmulations = emulationsOf(before) - emulationsOf(offer)
        assert.ok(byPriority < 0 || (byPriority === 0 && byEmulations <= 0))
        if (byPriority === 0 && byEmulations === 0) assert.ok(offers.indexOf(before) < offers.indexOf(offer))
      }
    }),
  )
})

test('another wrapping of the same bytes is no emulation', () => {
  assert.equal(emulationsOf({ emulated: ['encoding_format', 'response_format'] }), 0)
  assert.equal(emulationsOf({ emulated: ['encoding_format', 'dimensions'] }), 1)
})
