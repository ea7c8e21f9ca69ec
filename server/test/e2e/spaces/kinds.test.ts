/** Every way in which a model's vectors change under its name, while callers ask without pause. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import type { VectorKind } from '../../../../lab/fake-provider/drift.ts'
import { ADMIN, ask, beginLoad, guarded, isRight, servedBy, statesOf, verdicts } from './guarded.ts'

const OUTSIDE = ['other-model', 'other-pooling', 'scaled', 'unnormalised', 'other-width', 'swapped'] as const
const HONEST = [
  ['noise', 'good', 'trusted'],
  ['float16', 'good', 'trusted'],
  ['slightly', 'warned', 'warned'],
] as const satisfies readonly (readonly [VectorKind, string, string])[]

const modelOf = (kind: VectorKind): string => `${kind}-w64`
const kinds = [...OUTSIDE, ...HONEST.map(([kind]) => kind)]
const gateway = await startGateway({
  models: Object.fromEntries(kinds.map((kind) => [modelOf(kind), guarded([`${kind}-one`, `${kind}-two`])])),
  env: ADMIN,
})
const { provider } = gateway

for (const kind of OUTSIDE) {
  test(`${kind}: after the probe that found it no such vector leaves, and another deployment serves`, async () => {
    const model = modelOf(kind)
    const [one, two] = [`mode-${kind}-one`, `mode-${kind}-two`]
    await eventually(async () =>
      assert.deepEqual(await statesOf(gateway, model), { [one]: 'trusted', [two]: 'trusted' }),
    )
    const load = beginLoad(gateway, model)
    await load.answered(4)
    await provider.setMode(`${kind}-one`, { vectors: kind })
    await load.answered(8)
    assert.deepEqual(await verdicts(gateway, model), { [one]: 'quarantined', [two]: 'good' })
    const knownMs = performance.now()
    const { served } = provider.mode(`${kind}-one`)
    // Of four callers each has sent one before, at most.
    await load.answered(12)
    const ended = (await load.stop()).filter(({ sentMs }) => sentMs > knownMs)
    assert.ok(ended.length > 0)
    for (const { status, isWrong, deployment } of ended)
      assert.deepEqual([status, isWrong, deployment], [200, false, `${model}/${two}`])
    // Calls that were on their way may have been answered since, those of four callers.
    assert.ok(provider.mode(`${kind}-one`).served <= served + 4)
    assert.deepEqual(await statesOf(gateway, model), { [one]: 'quarantined', [two]: 'trusted' })

    await provider.setMode(`${kind}-one`, {})
    assert.deepEqual(await verdicts(gateway, model), { [one]: 'good', [two]: 'good' })
    // Its many failures of another kind may have to be forgotten first.
    await eventually(async () => assert.equal(servedBy(await ask(gateway, model, 'b')), `${model}/${one}`))
    assert.ok(isRight(await ask(gateway, model, ['back']), model, ['back']))
  })
}

for (const [kind, verdict, state] of HONEST) {
  test(`${kind}: ${verdict}, and it goes on serving`, async () => {
    const model = modelOf(kind)
    const one = `mode-${kind}-one`
    await provider.setMode(`${kind}-one`, { vectors: kind })
    for (let round = 0; round < 5; round += 1) assert.equal((await verdicts(gateway, model))[one], verdict)
    assert.equal((await statesOf(gateway, model))[one], state)
    assert.equal(servedBy(await ask(gateway, model, 'a text')), `${model}/${one}`)
  })
}
