import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RedisClient } from '@redis/client'
import { RedisConnection } from './connection.ts'

test('two servers that are away are tried again and again with one class of clients', async (t) => {
  const made = t.mock.method(RedisClient, 'factory')
  // Ports without a listener.
  const urls = ['redis://127.0.0.1:1', 'redis://127.0.0.1:2']
  const connections = urls.map((url) => new RedisConnection({ url, scripts: [] }))
  t.after(() => connections.forEach((connection) => connection.close()))
  for (let tries = 0; tries < 3; tries += 1) for (const connection of connections) await connection.open()
  assert.equal(made.mock.callCount(), 1)
})
