import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProbeResult, ProbeVerdict } from '#ports/spaces.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { aModel } from '#test/support/models.ts'
import { CONTENTS } from '#test/support/space-cluster.ts'
import { SpaceKnowledge, targetOf } from './knowledge.ts'

function aResult(deployment: string, atMs: number, verdict: ProbeVerdict): ProbeResult {
  const measured = { leastCosine: undefined, normDrift: undefined, reason: undefined }
  return { model: 'm', deployment, target: '', space: 'm@8:0', atMs, verdict, ...measured }
}

test('in an outage without end, who was seen outside is never forgotten', () => {
  const known = new SpaceKnowledge()
  known.remember(aResult('once', 0, 'quarantined'))
  for (let atMs = 1; atMs <= 700; atMs += 1) known.remember(aResult('well', atMs, 'good'))
  for (let atMs = 701; atMs <= 1400; atMs += 1) known.remember(aResult('bad', atMs, 'quarantined'))
  for (let atMs = 1401; atMs <= 1500; atMs += 1) known.remember(aResult('away', atMs, 'failed'))
  const count = (deployment: string): number =>
    known.unrecorded.filter((result) => result.deployment === deployment).length
  assert.deepEqual(['once', 'well', 'bad', 'away'].map(count), [1, 299, 700, 0])
  for (let atMs = 1501; atMs <= 3000; atMs += 1) known.remember(aResult('bad', atMs, 'quarantined'))
  assert.deepEqual(['once', 'well', 'bad'].map(count), [1, 0, 999])
  assert.equal(known.unrecorded.at(-1)?.atMs, 3000)
})

const base = targetOf(aModel(), aDeployment())

for (const [what, deployment, isSame] of [
  ['a header that may choose a model', aDeployment({ upstream: { headers: { 'x-revision': '2' } } }), false],
  ['another model', aDeployment({ upstreamModel: 'other' }), false],
  ['another address', aDeployment({ upstream: { baseUrl: 'https://other.example' } }), false],
  ['another wire', aDeployment({ capabilities: { contents: CONTENTS } }), false],
  ['another key', aDeployment({ upstream: { apiKey: 'another' } }), true],
  ['a credential in a header', aDeployment({ upstream: { headers: { 'X-Goog-Api-Key': 'abc' } } }), true],
  ['a token in a header', aDeployment({ upstream: { headers: { Authorization: 'Bearer abc' } } }), true],
] as const)
  test(`a deployment with ${what} leads ${isSame ? 'to the same place' : 'elsewhere'}`, () => {
    assert.equal(targetOf(aModel(), deployment) === base, isSame)
  })

test('the order and the case of headers say nothing of where a deployment leads', () => {
  const to = (headers: Record<string, string>): string =>
    targetOf(aModel(), aDeployment({ upstream: { headers } }))
  assert.equal(to({ 'x-one': '1', 'X-Two': '2' }), to({ 'x-two': '2', 'x-one': '1' }))
})
