import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestRecord } from '#ports/observer.ts'
import { nodeObserver } from './observer.ts'

/** An observer whose parts note what reaches them, with room for one line about strangers. */
function anObserver() {
  const heard: string[] = []
  const hears = (who: string) => () => void heard.push(who)
  const all = (who: string) => ({
    callEnded: hears(who),
    overcounted: hears(who),
    undercounted: hears(who),
    requestEnded: hears(who),
  })
  let lines = 1
  const observer = nodeObserver({
    telemetry: all('telemetry'),
    traffic: all('traffic'),
    logRequest: hears('request log'),
    traces: { requestEnded: hears('traces') },
    security: { note: ({ kind, client }) => void heard.push(`security ${kind} ${client}`) },
    mayWriteStranger: () => lines-- > 0,
    countOnly: hears('count'),
  })
  return {
    after: (record: Partial<RequestRecord>): string[] => {
      heard.length = 0
      observer.requestEnded({
        requestId: 'r',
        route: 'embeddings',
        status: 200,
        ...record,
      } as RequestRecord)
      return heard
    },
  }
}

const EVERYWHERE = ['telemetry', 'request log', 'traces']
const stranger = { status: 401, fault: 'missing_api_key' }

test('requests of strangers beyond the bound are only counted; those of callers are always written', () => {
  const observed = anObserver()
  const cases: readonly [record: Partial<RequestRecord>, heard: readonly string[]][] = [
    [{ project: 'p' }, EVERYWHERE],
    [stranger, EVERYWHERE],
    [stranger, ['count']],
    [{ ...stranger, project: 'p' }, EVERYWHERE],
    [{ status: 500, fault: 'internal_error' }, EVERYWHERE],
    [{}, EVERYWHERE],
  ]
  for (const [record, heard] of cases) assert.deepEqual(observed.after(record), ['traffic', ...heard])
})

test('a refusal that people watch for is a security event, also when nothing else is written', () => {
  const observed = anObserver()
  const wrong = { status: 401, fault: 'invalid_api_key', clientAddress: '192.0.2.1' }
  const event = 'security wrong_key 192.0.2.1'
  assert.deepEqual(observed.after(wrong), ['traffic', event, ...EVERYWHERE])
  assert.deepEqual(observed.after(wrong), ['traffic', event, 'count'])
})
