import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSameRedis } from './same-redis.ts'

for (const [one, other, isSame] of [
  ['redis://a', 'redis://a:6379', true],
  ['redis://a:6379/0', 'redis://a/1', true],
  ['redis://user:secret@a', 'rediss://a', true],
  ['redis://a:6380', 'redis://a:6380', true],
  ['redis://a', 'redis://a:6380', false],
  ['redis://a', 'redis://b', false],
  ['redis:///run/redis.sock', 'redis:///run/redis.sock', false],
  ['no address', 'no address', false],
] as const)
  test(`${one} and ${other} are ${isSame ? 'one server' : 'not known to be one server'}`, () => {
    assert.equal(isSameRedis(one, other), isSame)
    assert.equal(isSameRedis(other, one), isSame)
  })
