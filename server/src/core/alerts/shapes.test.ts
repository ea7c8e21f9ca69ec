import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Notice } from './notice.ts'
import { maskedTarget } from './rule.ts'
import { examplesOf, mailOf, postOf } from './shapes.ts'

const NOTICE: Notice = {
  id: 'i1.0',
  incident: 'i1',
  phase: 'start',
  kind: 'ejected',
  severity: 'critical',
  title: 'gpu-two <ejected> *now*',
  lines: ['A & B.'],
  project: undefined,
  grouped: 14,
  startedAt: '2026-11-18T12:00:00.000Z',
  endedAt: undefined,
  installation: 'eu-prod',
  link: 'https://torana.example/deployments',
  isTest: false,
}
const END: Notice = { ...NOTICE, id: 'i1.2000', phase: 'end', endedAt: '2026-11-18T12:04:00.000Z' }
const PAGERDUTY = { kind: 'pagerduty', url: '', isPrivate: false, routingKey: 'R1' } as const

test('PagerDuty opens and resolves one incident by its key', () => {
  const start = postOf(PAGERDUTY, NOTICE) as Record<string, unknown>
  const end = postOf(PAGERDUTY, END) as Record<string, unknown>
  assert.deepEqual([start['event_action'], start['dedup_key']], ['trigger', 'i1'])
  assert.deepEqual(end, { routing_key: 'R1', dedup_key: 'i1', event_action: 'resolve' })
})

test('names are no markup in chats', () => {
  const { slack, teams } = examplesOf(NOTICE)
  assert.match(JSON.stringify(slack), /gpu-two &lt;ejected&gt;/)
  assert.match(JSON.stringify(slack), /A &amp; B/)
  assert.match(JSON.stringify(teams), /\\\\\*now\\\\\*/)
})

test('an end says what ended and how long it lasted, and a storm says how much it stands for', () => {
  const { subject, text } = mailOf(END)
  assert.equal(subject, '[Torana eu-prod] Resolved: gpu-two <ejected> *now*')
  assert.match(text, /It lasted 4 min\./)
  assert.match(text, /14 alerts are grouped/)
  assert.match(text, /https:\/\/torana\.example\/deployments/)
})

test('an event has an id of its own, by which a receiver recognises a duplicate', () => {
  const target = { kind: 'webhook', url: '', isPrivate: false, secret: '' } as const
  const [start, end] = [NOTICE, END].map((one) => postOf(target, one) as Record<string, unknown>)
  assert.deepEqual([start?.['id'], start?.['type']], ['i1.0', 'alert.started'])
  assert.deepEqual([end?.['id'], end?.['type']], ['i1.2000', 'alert.ended'])
})

test('no channel can take a test for an alert: its title says so in every form', () => {
  const forms = Object.values(examplesOf({ ...NOTICE, isTest: true }))
  for (const form of forms) assert.match(JSON.stringify(form), /Test: gpu-two/)
})

test('a masked target shows too little to post with', () => {
  const slack = 'https://hooks.slack.com/services/T0000/B0000/aaaaaaaaaaaaaaaax9Qd'
  assert.equal(maskedTarget({ kind: 'slack', url: slack, isPrivate: false }), 'hooks.slack.com/…/x9Qd')
  assert.equal(maskedTarget({ kind: 'teams', url: 'https://a.example/abc', isPrivate: false }), 'a.example/…')
  assert.equal(maskedTarget({ ...PAGERDUTY, routingKey: 'R0123456789abcdef4b7e' }), 'Routing key …4b7e')
  assert.equal(maskedTarget({ kind: 'email', to: ['a@b.c', 'd@e.f', 'g@h.i'] }), 'a@b.c +2')
})
