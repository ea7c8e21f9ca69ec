/** Alert channels: where notices go. What a channel leads to is sealed; answers show a masked form. */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import {
  CHANNEL_KINDS,
  keepsQuietByDefault,
  NO_ALERTS,
  PAGERDUTY_URL,
  type ChannelTarget,
} from '#core/alerts/rule.ts'
import { Fault } from '#core/fault/fault.ts'
import { MIN_KEY_LENGTH } from '#core/keys/key.ts'
import { actorIn, callerIn, visibleProjects, type Caller } from '../shared/caller.ts'
import { conflict, invalidField, notFound } from '../shared/faults.ts'
import { listOf, name, noContent, storable, time } from '../shared/fields.ts'
import { managed } from '../shared/model-fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { delivery, readQueues } from './queries.ts'
import { allChannels, allRules, channelBody, seesRule } from './rules.ts'

const channel = z
  .object({
    ...managed,
    id: z.string(),
    name: z.string(),
    kind: z.enum(CHANNEL_KINDS),
    masked: z.string().describe('What people recognise it by, such as `hooks.slack.com/…/x9Qd`.'),
    quiet_hours: z.boolean().describe('Whether quiet hours of rules hold its notices.'),
    last: delivery.nullable().describe('The last try, or test. null: there was none.'),
    failing_since: time.nullable(),
    queued: z.int().describe('Notices that are due and have not arrived.'),
    next_at: time.nullable().describe('The next try of a failing channel.'),
    attempt: z.int().describe('The number of the next try.'),
  })
  .meta({ id: 'AlertChannel' })

const channelList = listOf(channel)
  .extend({ email: z.boolean().describe('Whether a mail server is configured (SMTP_URL, SMTP_FROM).') })
  .meta({ id: 'AlertChannelList' })

const madeChannel = channel
  .extend({
    secret: z
      .string()
      .nullable()
      .describe('The signing secret of a new webhook, if none was given. It is shown this once.'),
  })
  .meta({ id: 'MadeAlertChannel' })

/** Recipients of one channel: a longer list belongs on the mail server. */
const MAX_RECIPIENTS = 20

const url = z
  .url({ protocol: /^https?$/, error: 'expected a URL such as https://hooks.example.com/alerts' })
  .max(2000)
const secret = storable(500).min(MIN_KEY_LENGTH, `a secret needs ${MIN_KEY_LENGTH} characters or more`)
const routingKey = storable(200).min(8)
const to = z.array(z.email().max(320)).min(1).max(MAX_RECIPIENTS)
const common = {
  name,
  quiet_hours: z
    .boolean()
    .optional()
    .describe('Whether quiet hours of rules hold its notices. Default: `false` for PagerDuty, else `true`.'),
}
const isPrivate = z
  .boolean()
  .optional()
  .describe('Whether the address may be private, and plain http. Only an admin may allow it.')

const newChannel = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('slack'), url, private: isPrivate, ...common }),
    z.strictObject({ kind: z.literal('teams'), url, private: isPrivate, ...common }),
    z.strictObject({
      kind: z.literal('webhook'),
      url,
      private: isPrivate,
      secret: secret
        .optional()
        .describe('Signs the events. Default: a new one, which the answer shows once.'),
      ...common,
    }),
    z.strictObject({
      kind: z.literal('pagerduty'),
      routing_key: routingKey,
      url: url.optional().describe(`Default: ${PAGERDUTY_URL}`),
      private: isPrivate,
      ...common,
    }),
    z.strictObject({ kind: z.literal('email'), to, ...common }),
  ])
  .meta({
    id: 'NewAlertChannel',
    examples: [{ kind: 'slack', name: 'torana-ops', url: 'https://hooks.slack.com/services/T0/B0/x9Qd' }],
  })

const channelChange = z
  .strictObject({
    name: name.optional(),
    quiet_hours: z.boolean().optional(),
    url: url
      .optional()
      .describe('Another address of PagerDuty needs `routing_key` too, which is sent there.'),
    private: isPrivate,
    secret: secret.optional(),
    routing_key: routingKey.optional(),
    to: to.optional(),
  })
  .meta({ id: 'AlertChannelChange', examples: [{ name: 'torana-night' }] })

export const channelPath = z.object({ id: storable(120) })

type ChannelNode = Pick<
  ControlNode,
  'alerts' | 'alertOutbox' | 'declaredCatalog' | 'identifiers' | 'reports' | 'settings'
>

export function registerAlertChannels(api: Api, node: ChannelNode): void {
  const { alerts, reports } = node
  const declared = () => node.declaredCatalog().alerts ?? NO_ALERTS

  route(api, 'GET /alerts/channels', {
    permission: 'alerts.read',
    id: 'listAlertChannels',
    summary: 'Alert channels with their last delivery and what waits for them',
    answer: channelList,
    handler: async (request) => {
      const projects = visibleProjects(callerIn(request))
      const stored = await alerts.read()
      const rules = allRules(declared(), stored).filter((rule) => seesRule(rule, projects))
      const used = new Set(rules.flatMap((rule) => rule.channels))
      const seen = allChannels(declared(), stored).filter(({ id }) => projects === undefined || used.has(id))
      const queues = await readQueues(
        reports,
        seen.map(({ id }) => id),
      )
      return {
        data: seen.map((one) => channelBody(one, queues.get(one.id))),
        has_more: false,
        email: node.settings.smtp !== undefined,
      }
    },
  })

  registerChannelWrites(api, node)

  route(api, 'POST /alerts/channels/:id/retry', {
    permission: 'alerts.write',
    id: 'retryAlertChannel',
    summary: 'Try at once to send what waits for a channel',
    params: channelPath,
    answer: channel,
    handler: async (request) => {
      const { id } = request.params
      const found = allChannels(declared(), await alerts.read()).find((one) => one.id === id)
      if (found === undefined) throw notFound(`There is no alert channel ${id}.`)
      await node.alertOutbox.retryNow(id)
      return channelBody(found, (await readQueues(reports, [id])).get(id))
    },
  })
}

function registerChannelWrites(api: Api, node: ChannelNode): void {
  const { alerts, reports, identifiers, settings } = node

  route(api, 'POST /alerts/channels', {
    permission: 'alerts.write',
    id: 'createAlertChannel',
    summary: 'Make an alert channel',
    body: newChannel,
    answers: { 201: madeChannel },
    faults: [409],
    handler: async (request, reply) => {
      const { name: given, quiet_hours: keepsQuiet } = request.body
      const made = request.body.kind === 'webhook' && request.body.secret === undefined ? newSecret() : null
      const target = targetOf(request.body, made)
      checkTarget(target, callerIn(request), settings)
      const id = identifiers.next()
      checkFree(node, given)
      const kept = await alerts.putChannel(
        { id, name: given, target, keepsQuiet: keepsQuiet ?? keepsQuietByDefault(target.kind) },
        true,
        actorIn(request),
      )
      const body = channelBody({ ...kept, managedBy: 'store' }, undefined)
      return reply.code(201).send({ ...body, secret: made })
    },
  })

  route(api, 'PATCH /alerts/channels/:id', {
    permission: 'alerts.write',
    id: 'changeAlertChannel',
    summary: 'Change an alert channel of the store',
    params: channelPath,
    body: channelChange,
    answer: channel,
    faults: [409],
    handler: async (request) => {
      const { id } = request.params
      const before = await storedChannel(node, id)
      const target = await alerts.target(id)
      if (target === undefined) throw notFound(`There is no alert channel ${id}.`)
      const {
        name: given = before.name,
        quiet_hours: keepsQuiet = before.keepsQuiet,
        ...fields
      } = request.body
      const changed = changedTarget(target, fields)
      if (Object.keys(fields).length > 0) checkTarget(changed, callerIn(request), settings)
      if (given !== before.name) checkFree(node, given)
      const queues = await readQueues(reports, [id])
      const kept = await alerts.putChannel(
        { id, name: given, target: changed, keepsQuiet },
        false,
        actorIn(request),
      )
      return channelBody({ ...kept, managedBy: 'store' }, queues.get(id))
    },
  })

  route(api, 'DELETE /alerts/channels/:id', {
    permission: 'alerts.write',
    id: 'deleteAlertChannel',
    summary:
      'Delete an alert channel of the store, with the notices that wait for it. No rule may name it any more',
    params: channelPath,
    answers: { 204: noContent },
    faults: [409],
    handler: async (request, reply) => {
      const { id } = await storedChannel(node, request.params.id)
      await alerts.dropChannel(id, actorIn(request))
      return reply.code(204).send()
    },
  })
}

/** Only what the store manages can be changed here. */
async function storedChannel({ alerts, declaredCatalog }: ChannelNode, id: string) {
  const known = declaredCatalog().alerts?.channels.find((one) => one.id === id)
  if (known !== undefined)
    throw conflict(`Alert channel ${known.name} is declared at ${known.managedBy}. Change it there.`)
  const found = (await alerts.read()).channels.find((one) => one.id === id)
  if (found === undefined) throw notFound(`There is no alert channel ${id}.`)
  return found
}

function checkFree({ declaredCatalog }: ChannelNode, given: string): void {
  const known = declaredCatalog().alerts?.channels.find((one) => one.name === given)
  if (known !== undefined)
    throw conflict(`Alert channel ${given} is declared at ${known.managedBy}. Choose another name.`)
}

function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`
}

function targetOf(fields: z.output<typeof newChannel>, made: string | null): ChannelTarget {
  if (fields.kind === 'email') return { kind: 'email', to: fields.to }
  const common = { isPrivate: fields.private ?? false }
  if (fields.kind === 'pagerduty')
    return { kind: 'pagerduty', url: fields.url ?? PAGERDUTY_URL, routingKey: fields.routing_key, ...common }
  if (fields.kind === 'webhook')
    return { kind: 'webhook', url: fields.url, secret: fields.secret ?? made ?? '', ...common }
  return { kind: fields.kind, url: fields.url, ...common }
}

/** Fields of a change that a kind of channel has. */
const CHANGEABLE: Readonly<Record<ChannelTarget['kind'], readonly string[]>> = {
  slack: ['url', 'private'],
  teams: ['url', 'private'],
  webhook: ['url', 'private', 'secret'],
  pagerduty: ['url', 'private', 'routing_key'],
  email: ['to'],
}

function changedTarget(
  target: ChannelTarget,
  given: Omit<z.output<typeof channelChange>, 'name' | 'quiet_hours'>,
): ChannelTarget {
  const misfit = Object.keys(given).find((field) => !CHANGEABLE[target.kind].includes(field))
  if (misfit !== undefined) throw invalidField(`${misfit}: a channel of ${target.kind} has none.`, misfit)
  if (target.kind === 'email') return { ...target, to: given.to ?? target.to }
  const common = { url: given.url ?? target.url, isPrivate: given.private ?? target.isPrivate }
  if (target.kind === 'pagerduty') {
    if (common.url !== target.url && given.routing_key === undefined)
      throw invalidField('routing_key: it is sent to the new address, so give it again.', 'routing_key')
    return { ...target, ...common, routingKey: given.routing_key ?? target.routingKey }
  }
  if (target.kind === 'webhook') return { ...target, ...common, secret: given.secret ?? target.secret }
  return { ...target, ...common }
}

function checkTarget(
  target: ChannelTarget,
  { role, actor }: Pick<Caller, 'role' | 'actor'>,
  { smtp }: Pick<ControlNode['settings'], 'smtp'>,
): void {
  if (target.kind === 'email') {
    if (smtp === undefined)
      throw conflict(
        'No mail server is configured. Set SMTP_URL and SMTP_FROM in the environment of all nodes.',
      )
    return
  }
  if (target.isPrivate && role !== 'admin')
    throw new Fault('forbidden', `Only an admin may allow a private address. ${actor} is ${role}.`)
  if (!target.isPrivate && !target.url.startsWith('https:'))
    throw invalidField('url: must begin with https: (or send private: true).', 'url')
  const parsed = URL.parse(target.url)
  if (parsed === null || parsed.username !== '' || parsed.password !== '')
    throw invalidField('url: must not hold a user name or a password.', 'url')
}
