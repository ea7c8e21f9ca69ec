import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '#core/fault/fault.ts'
import { FailedKeys } from './failed-keys.ts'

const WRONG = new Fault('invalid_api_key', 'No.')

function begin() {
  let nowMs = 1000
  const failed = new FailedKeys(() => nowMs)
  return {
    waitMs: (address: string) => failed.waitMs(address),
    pass: (ms: number) => (nowMs += ms),
    fail: (times: number, address: string, fault = WRONG) => {
      for (let time = 0; time < times; time += 1) failed.note(address, fault)
    },
  }
}

test('thirty wrong keys are free; then one a second', () => {
  const { waitMs, fail, pass } = begin()
  fail(29, '192.0.2.1')
  assert.equal(waitMs('192.0.2.1'), 0)
  fail(1, '192.0.2.1')
  assert.equal(waitMs('192.0.2.1'), 1000)
  assert.equal(waitMs('192.0.2.2'), 0)
  pass(1000)
  assert.equal(waitMs('192.0.2.1'), 0)
  fail(1, '192.0.2.1')
  assert.equal(waitMs('192.0.2.1'), 1000)
  pass(60_000)
  fail(29, '192.0.2.1')
  assert.equal(waitMs('192.0.2.1'), 0)
})

test('only wrong keys count', () => {
  const { waitMs, fail } = begin()
  fail(100, '192.0.2.1', new Fault('key_expired', 'Old.'))
  fail(100, '192.0.2.1', new Fault('key_store_unreachable', 'Away.'))
  assert.equal(waitMs('192.0.2.1'), 0)
})

test('addresses of one network of IPv6 count as one, and those of IPv4 each', () => {
  const { waitMs, fail } = begin()
  for (let host = 0; host < 40; host += 1) fail(1, `2001:db8:1:2:${host.toString(16)}::1`)
  assert.ok(waitMs('2001:db8:1:2:ffff::1') > 0)
  assert.equal(waitMs('2001:db8:1:3::1'), 0)
  for (let host = 0; host < 40; host += 1) fail(1, `192.0.2.${host}`)
  assert.equal(waitMs('192.0.2.1'), 0)
})

test('strangers from many addresses take bounded memory', () => {
  const { waitMs, fail } = begin()
  fail(30, '192.0.2.1')
  for (let address = 0; address < 10_000; address += 1) fail(1, `10.0.${address >> 8}.${address & 255}`)
  assert.equal(waitMs('192.0.2.1'), 0)
})
