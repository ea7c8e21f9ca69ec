import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Input } from '#core/embedding/input.ts'
import { nanoUsdOf } from '#core/money/price.ts'
import type { Overcount } from '#ports/observer.ts'
import { runs } from '#test/support/arbitraries.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { dryRunInMemory, embedInMemory, MemoryUpstream } from '#test/support/embedding.ts'
import { aModel, aRequest } from '#test/support/models.ts'

const input: fc.Arbitrary<Input> = fc.oneof(
  fc
    .array(fc.oneof(fc.string({ minLength: 1, maxLength: 60 }), fc.constantFrom('x', 'é', '😀')), {
      minLength: 1,
      maxLength: 6,
    })
    .map((texts) => ({ kind: 'texts' as const, texts })),
  fc
    .array(fc.array(fc.nat(999_999), { minLength: 1, maxLength: 9 }), { minLength: 1, maxLength: 4 })
    .map((ids) => ({ kind: 'tokens' as const, tokens: ids.map((one) => Uint32Array.from(one)) })),
)

test('a dry run never says less than a request is charged, or a fourth of it where its upstream counts more than is expected', async () => {
  const facts = fc.record({
    tokenArrays: fc.boolean(),
    maxInputs: fc.integer({ min: 1, max: 4 }),
    maxInputTokens: fc.constantFrom(undefined, 30),
    inputType: fc.constantFrom(undefined, 'query' as const),
    nanoUsdPerMillionTokens: fc.bigInt({ min: 1n, max: 10n ** 9n }),
  })
  const counted = fc.oneof(fc.nat(40), fc.maxSafeNat())
  await fc.assert(
    fc.asyncProperty(input, facts, counted, async (input, drawn, tokens) => {
      const { tokenArrays, maxInputs, maxInputTokens, inputType, nanoUsdPerMillionTokens } = drawn
      const price = { kind: 'perToken', nanoUsdPerMillionTokens } as const
      const model = aModel({
        deployments: [aDeployment({ price, capabilities: { tokenArrays, maxInputs } })],
        facts: { maxInputTokens, inputType: { rule: 'prefix', prefixes: { query: 'query: ' } } },
      })
      const request = aRequest({ input, inputType })
      const said = await dryRunInMemory(request, model)
      const upstream = new MemoryUpstream({ usage: () => ({ kind: 'measured', tokens }) })
      const overcounts: Overcount[] = []
      const { usage } = await embedInMemory(request, model, upstream, { overcounts })
      assert.ok(usage.cost.kind === 'known')
      const most = nanoUsdOf(said.deployments[0]?.maxCostUsd ?? '')
      const isAsExpected = !overcounts.some(({ excessTokens }) => excessTokens > 0)
      const bound = isAsExpected ? most : 4n * most
      assert.ok(usage.cost.nanoUsd <= bound, `${usage.cost.nanoUsd} charged, ${most} said`)
    }),
    runs(500),
  )
})
