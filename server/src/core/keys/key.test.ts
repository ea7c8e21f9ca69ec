import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { MANY_RUNS } from '#test/support/arbitraries.ts'
import { cellOf, checksum, isCellName, keyForm, keyFrom, keyTail } from './key.ts'

const randomBytes = fc
  .uint8Array({ minLength: 64, maxLength: 64 })
  .filter((bytes) => bytes.filter((byte) => byte < 248).length >= 32)
const key = randomBytes.map(keyFrom)
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.split('')

test('a new key has the documented form and is known as ours', () => {
  fc.assert(
    fc.property(key, (key) => {
      assert.match(key, /^tr_[0-9A-Za-z]{32}_[0-9a-f]{8}$/)
      assert.equal(keyForm(key), 'torana')
    }),
    MANY_RUNS,
  )
})

test('the checksum is CRC-32, so that other programs can check a key', () => {
  fc.assert(
    fc.property(key, (key) => {
      assert.equal(key.slice(-8), crc32(key.slice(0, -9)).toString(16).padStart(8, '0'))
    }),
    MANY_RUNS,
  )
  assert.equal(checksum('123456789'), 'cbf43926')
})

test('every change of one character is noticed', () => {
  const one = keyFrom(Uint8Array.from({ length: 64 }, (_, index) => index * 3))
  for (let at = 0; at < one.length; at += 1) {
    for (const character of [...BASE62, '_', '-', ' ', 'é']) {
      if (character === one[at]) continue
      const changed = one.slice(0, at) + character + one.slice(at + 1)
      // Without its first letters a key is no longer ours, and is looked up like any other.
      assert.equal(keyForm(changed), at < 3 ? 'foreign' : 'bad-checksum', changed)
    }
  }
})

test('a key that was cut, lengthened or has two neighbours swapped is noticed', () => {
  fc.assert(
    fc.property(key, fc.nat(42), (key, at) => {
      assert.equal(keyForm(key.slice(0, Math.max(3, at))), 'bad-checksum')
      assert.equal(keyForm(`${key}x`), 'bad-checksum')
      const swapped = key.slice(0, at) + (key[at + 1] ?? '') + (key[at] ?? '') + key.slice(at + 2)
      if (at >= 3 && swapped !== key) assert.equal(keyForm(swapped), 'bad-checksum')
    }),
    MANY_RUNS,
  )
})

test('keys brought from elsewhere keep their form, short ones are refused', () => {
  assert.equal(keyForm('sk-proj-0123456789abcdef0123'), 'foreign')
  assert.equal(keyForm('x'.repeat(24)), 'foreign')
  assert.equal(keyForm('x'.repeat(23)), 'too-short')
  assert.equal(keyForm(''), 'too-short')
})

test('a key names the cell it was made in, and no other change of it is taken for a key', () => {
  const cell = fc.stringMatching(/^[0-9a-z]{1,8}$/)
  fc.assert(
    fc.property(randomBytes, cell, (bytes, cell) => {
      const key = keyFrom(bytes, cell)
      assert.match(key, /^tr_[0-9a-z]{1,8}_[0-9A-Za-z]{32}_[0-9a-f]{8}$/)
      assert.equal(keyForm(key), 'torana')
      assert.equal(cellOf(key), cell)
      assert.equal(cellOf(keyFrom(bytes)), undefined)
      // The checksum covers the cell: a key can't be moved to another one.
      assert.equal(keyForm(key.replace(`tr_${cell}_`, `tr_${cell === 'x' ? 'y' : 'x'}_`)), 'bad-checksum')
      assert.equal(keyForm(key.replace(`tr_${cell}_`, 'tr_')), 'bad-checksum')
    }),
    MANY_RUNS,
  )
  assert.equal(cellOf('sk-proj-0123456789abcdef0123'), undefined)
  for (const name of ['', 'EU1', 'eu-1', 'ninechars']) assert.equal(isCellName(name), false, name)
})

test('too few random bytes make no key', () => {
  assert.throws(() => keyFrom(new Uint8Array(31)), RangeError)
  assert.throws(() => keyFrom(new Uint8Array(64).fill(255)), RangeError)
})

test('all 62 characters are equally likely', () => {
  const every = Uint8Array.from({ length: 248 }, (_, byte) => byte)
  const counts = new Map<string, number>()
  for (let start = 0; start < 248; start += 31) {
    const body = keyFrom(Uint8Array.from([...every.subarray(start, start + 31), 0])).slice(3, 34)
    for (const character of body) counts.set(character, (counts.get(character) ?? 0) + 1)
  }
  assert.deepEqual(new Set(counts.values()), new Set([4]))
  assert.equal(counts.size, 62)
})

test('what is shown of a key is too little to use it', () => {
  assert.equal(keyTail('sk-0123456789abcdef0123456789'), '…6789')
  assert.equal(keyTail('short'), '…')
})
