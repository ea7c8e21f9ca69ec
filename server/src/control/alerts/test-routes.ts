/** A test of an alert channel. */
import { NO_ALERTS } from '#core/alerts/rule.ts'
import { conflict, notFound } from '../shared/faults.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { isoOf } from '../shared/times.ts'
import { channelPath } from './channel-routes.ts'
import { delivery } from './queries.ts'
import { exampleNotice } from './rules.ts'

/** Tests of one node per minute: a person needs a few, a program that floods others with them none. */
const MAX_TESTS = 20
const MINUTE_MS = 60_000

type TestNode = Pick<
  ControlNode,
  | 'alerts'
  | 'alertOutbox'
  | 'alertTransport'
  | 'clock'
  | 'controlUrl'
  | 'declaredCatalog'
  | 'identifiers'
  | 'settings'
>

export function registerAlertTest(api: Api, node: TestNode): void {
  const { alerts, alertOutbox, alertTransport, clock, identifiers, settings } = node
  let testedMs: readonly number[] = []

  route(api, 'POST /alerts/channels/:id/test', {
    permission: 'alerts.write',
    id: 'testAlertChannel',
    summary: 'Send a test to a channel now, also at quiet hours',
    params: channelPath,
    answer: delivery,
    faults: [409],
    handler: async (request) => {
      const { id } = request.params
      const own = (node.declaredCatalog().alerts ?? NO_ALERTS).channels.find((one) => one.id === id)
      const target = own?.target ?? (await alerts.target(id))
      if (target === undefined) throw notFound(`There is no alert channel ${id}.`)
      const nowMs = clock.nowMs()
      testedMs = testedMs.filter((ms) => ms > nowMs - MINUTE_MS)
      if (testedMs.length >= MAX_TESTS)
        throw conflict(`A node sends ${MAX_TESTS} tests per minute. Wait a minute.`)
      testedMs = [...testedMs, nowMs]
      const notice = exampleNotice({
        kind: 'ejected',
        id: identifiers.next(),
        installation: settings.name ?? '',
        link: `${settings.consoleUrl ?? node.controlUrl}/alerts`,
        at: isoOf(nowMs),
        isTest: true,
      })
      const result = await alertTransport.send(target, notice)
      await alertOutbox.tested(id, result, nowMs)
      return {
        at: isoOf(nowMs),
        test: true,
        ok: result.isOk,
        status: result.status ?? null,
        ms: result.ms,
        attempt: 1,
        problem: result.problem ?? null,
      }
    },
  })
}
