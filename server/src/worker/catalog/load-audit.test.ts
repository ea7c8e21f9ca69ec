import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnreachable } from '#ports/store.ts'
import { LoadAudit } from './load-audit.ts'

function anAudit() {
  const written: string[] = []
  const state = { failures: [] as Error[], failed: 0, onPause: () => {} }
  const loads = new LoadAudit({
    audit: {
      async appendNews({ action, detail }) {
        const failure = state.failures.shift()
        if (failure !== undefined) throw failure
        written.push(`${action} ${detail.digest}`)
      },
    },
    pause: async () => state.onPause(),
    onFailed: () => void (state.failed += 1),
  })
  const note = (digest: string) => loads.note(async () => ({ digest }))
  return { loads, note, written, state }
}

const away = new StoreUnreachable('connection refused')

test('loads are recorded in order, and wait for an unreachable store', async () => {
  const { loads, note, written, state } = anAudit()
  state.failures = [away, away]
  note('first')
  note('second')
  await new Promise((resolve) => void setImmediate(resolve))
  await loads.close()
  assert.deepEqual(written, ['config.load first', 'config.load second'])
})

test('a load that the store refuses is reported, and holds up no other', async () => {
  const { loads, note, written, state } = anAudit()
  state.failures = [new RangeError('too long')]
  note('first')
  note('second')
  await new Promise((resolve) => void setImmediate(resolve))
  await loads.close()
  assert.deepEqual([written, state.failed], [['config.load second'], 1])
})

test('a node that stops does not wait for an unreachable store', async () => {
  const { loads, note, written, state } = anAudit()
  state.failures = Array.from({ length: 100 }, () => away)
  state.onPause = () => void loads.close()
  note('first')
  await new Promise((resolve) => void setImmediate(resolve))
  await loads.close()
  assert.deepEqual([written, state.failures.length], [[], 99])
})
