/** Passwords of stores that rotate while a node runs: each new connection uses the one in force. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { createClient } from '@redis/client'
import { openPostgres } from '#stores/postgres/database.ts'
import { RedisConnection } from '#stores/redis/connection.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres, testRedis } from '#test/support/servers.ts'

test('PostgreSQL: new connections use the user and password of now, and those that are open go on', async (context) => {
  const { url } = await testPostgres()
  const admin = new Client(url)
  await admin.connect()
  context.after(() => admin.end())
  const name = new URL(url).pathname.slice(1)
  const roles = ['first', 'second'].map((role) => `${role}_${name}`)
  for (const role of roles) await admin.query(`create role ${role} login`)
  const urlOf = (role = ''): string => {
    const own = new URL(url)
    own.username = role
    return own.href
  }
  let now = urlOf(roles[0])
  const database = openPostgres(() => now, { poolSize: 1 })
  context.after(() => database.close())
  const user = async (): Promise<unknown> => (await database.query('select current_user as name'))[0]
  assert.deepEqual(await user(), { name: roles[0] })
  now = urlOf(roles[1])
  assert.deepEqual(await user(), { name: roles[0] })
  // A session ends its connection.
  await database.session((sql) => sql.query('select 1'))
  assert.deepEqual(await user(), { name: roles[1] })
})

test('Redis: a connection that comes back uses the password of now', async (context) => {
  const { url } = await testRedis()
  const withPassword = (password: string): string => url.replace('redis://', `redis://:${password}@`)
  const admin = await createClient({ url }).connect()
  context.after(() => admin.destroy())
  await admin.configSet('requirepass', 'one')
  let now = withPassword('one')
  let connections = 0
  const redis = new RedisConnection({ url: () => now, scripts: [], onReady: () => (connections += 1) })
  context.after(() => redis.close())
  await redis.open()
  assert.equal(connections, 1)
  await admin.configSet('requirepass', 'two')
  now = withPassword('two')
  await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'])
  await eventually(async () => assert.equal(connections, 2))
})
