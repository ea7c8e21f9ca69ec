import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPrivateReceiver, webhooksFor, webhooksOf, type ConfiguredWebhook } from './webhook.ts'

const hook = (url: string, rest: Partial<ConfiguredWebhook> = {}): ConfiguredWebhook => ({
  url,
  secret: 's',
  events: undefined,
  isPrivate: false,
  ...rest,
})
const all = hook('https://all.example')
const some = hook('https://some.example', { events: ['budget.reached'], isPrivate: true })
const projects = [{ name: 'a', webhooks: [all, some] }, { name: 'b' }]

test('a webhook gets the events that it asks for, of its own project', () => {
  assert.deepEqual(webhooksFor(projects, 'a', 'budget.reached'), [all, some])
  assert.deepEqual(webhooksFor(projects, 'a', 'batch.failed'), [all])
  for (const project of ['b', 'unknown']) assert.deepEqual(webhooksOf(projects, project), [])
})

test('only an address that a project allows to be private is private', () => {
  assert.deepEqual(
    [all, some].map(({ url }) => isPrivateReceiver(projects, url)),
    [false, true],
  )
})
