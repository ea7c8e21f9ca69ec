import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WebhookDelivery } from '#ports/webhooks.ts'
import { webhookLog } from './webhook-log.ts'

test('the log names the origin of a receiver, never the path, which is its secret', () => {
  const lines: string[] = []
  const note = (...line: unknown[]): void => void lines.push(JSON.stringify(line))
  const events = webhookLog({ info: note, warn: note, error: note })
  const delivery = {
    id: 'e1',
    url: 'https://user:pass@hooks.example.com/services/T0/SECRET?token=x',
    type: 't',
  }
  events.sent(delivery as WebhookDelivery)
  events.notSent(delivery as WebhookDelivery, 'status 500')
  assert.equal(lines.length, 2)
  for (const line of lines) {
    assert.match(line, /"https:\/\/hooks\.example\.com"/)
    assert.doesNotMatch(line, /SECRET|token|pass/)
  }
})
