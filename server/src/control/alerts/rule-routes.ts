/** Alert rules: what starts an incident, and which channels hear of it. */
import { z } from 'zod'
import { readCondition, scopeProblem } from '#core/alerts/kind.ts'
import { zoneProblem } from '#core/alerts/quiet-hours.ts'
import { NO_ALERTS, type AlertRule } from '#core/alerts/rule.ts'
import { actorIn, callerIn, visibleProjects } from '../shared/caller.ts'
import { conflict, invalidField, notFound } from '../shared/faults.ts'
import { listOf, noContent, storable, time } from '../shared/fields.ts'
import { managed } from '../shared/model-fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { alertKind, alertScope, lastOfRules } from './queries.ts'
import { allChannels, allRules, kindBodies, ruleBody, seesRule } from './rules.ts'

const CLOCK = /^([01]\d|2[0-3]):[0-5]\d$/

const quiet = z
  .strictObject({
    days: z.array(z.int().min(1).max(7)).min(1).max(7).describe('1 is Monday, 7 is Sunday.'),
    from: z.string().regex(CLOCK, 'expected a time such as 22:00'),
    to: z
      .string()
      .regex(/^(24:00|([01]\d|2[0-3]):[0-5]\d)$/, 'expected a time such as 07:00, or 24:00')
      .describe('Of the next day if it is before `from`. `24:00`: the end of the day.'),
    zone: storable(60).describe('A time zone such as `Europe/Berlin`.'),
  })
  .meta({ id: 'QuietHours' })

const conditionValue = z.union([z.number(), z.array(z.number()).max(10)])

const rule = z
  .object({
    ...managed,
    id: z.string(),
    name: z.string().describe('Empty: it is shown by its kind.'),
    on: z.boolean(),
    kind: alertKind,
    condition: z.record(z.string(), conditionValue),
    scope: alertScope,
    channels: z.array(z.string()).describe('Ids of channels.'),
    quiet: quiet.nullable().describe('When its notices wait. null: never.'),
    last_at: time.nullable().describe('When it last started an incident.'),
  })
  .meta({ id: 'AlertRule' })

const kindFields = z
  .object({
    kind: alertKind,
    projects: z.boolean().describe('Whether a rule can watch one project, or each of them.'),
    fields: z.array(
      z.object({ field: z.string(), initial: conditionValue, min: z.number(), max: z.number() }),
    ),
  })
  .meta({ id: 'AlertKindFields' })

const ruleList = listOf(rule)
  .extend({ kinds: z.array(kindFields).describe('What a new rule of each kind begins with.') })
  .meta({ id: 'AlertRuleList' })

const givenFields = {
  name: storable(80).trim().optional(),
  on: z.boolean().optional(),
  condition: z
    .record(storable(40), conditionValue)
    .optional()
    .describe('Fields that are left out keep theirs.'),
  scope: alertScope.optional(),
  channels: z.array(storable(120)).max(20).optional(),
  quiet: quiet.nullish(),
}

const newRule = z.strictObject({ kind: alertKind, ...givenFields }).meta({
  id: 'NewAlertRule',
  examples: [
    { kind: 'error_rate', condition: { percent: 5, minutes: 5 }, scope: { project: '*' }, channels: [] },
  ],
})
const ruleChange = z.strictObject(givenFields).meta({ id: 'AlertRuleChange', examples: [{ on: false }] })
const rulePath = z.object({ id: storable(120) })

type RuleNode = Pick<
  ControlNode,
  'alerts' | 'declaredCatalog' | 'declaredProjects' | 'identifiers' | 'keyStore' | 'reports'
>

export function registerAlertRules(api: Api, node: RuleNode): void {
  const { alerts, reports, identifiers } = node
  const declared = () => node.declaredCatalog().alerts ?? NO_ALERTS

  const storedRule = async (id: string): Promise<AlertRule> => {
    const known = declared().rules.find((one) => one.id === id)
    if (known !== undefined)
      throw conflict(`Alert rule ${id} is declared at ${known.managedBy}. Change it there.`)
    const found = (await alerts.read()).rules.find((one) => one.id === id)
    if (found === undefined) throw notFound(`There is no alert rule ${id}.`)
    return found
  }

  route(api, 'GET /alerts/rules', {
    permission: 'alerts.read',
    id: 'listAlertRules',
    summary: 'Alert rules of torana.yaml and of the store, and what a new one of each kind begins with',
    answer: ruleList,
    handler: async (request) => {
      const projects = visibleProjects(callerIn(request))
      const [stored, last] = await Promise.all([alerts.read(), lastOfRules(reports, projects)])
      const seen = allRules(declared(), stored).filter((one) => seesRule(one, projects))
      return {
        data: seen.map((one) => ruleBody(one, last.get(one.id))),
        has_more: false,
        kinds: kindBodies(),
      }
    },
  })

  route(api, 'POST /alerts/rules', {
    permission: 'alerts.write',
    id: 'createAlertRule',
    summary: 'Make an alert rule',
    body: newRule,
    answers: { 201: rule },
    faults: [409],
    handler: async (request, reply) => {
      const { kind, ...given } = request.body
      const empty = { name: '', isOn: true, condition: {}, channels: [], quiet: undefined }
      const base = { id: identifiers.next(), kind, scope: { installation: true as const }, ...empty }
      const made = await alerts.putRule(await checked(node, base, given), true, actorIn(request))
      return reply.code(201).send(ruleBody({ ...made, managedBy: 'store' }, undefined))
    },
  })

  route(api, 'PATCH /alerts/rules/:id', {
    permission: 'alerts.write',
    id: 'changeAlertRule',
    summary: 'Change an alert rule of the store',
    params: rulePath,
    body: ruleChange,
    answer: rule,
    faults: [409],
    handler: async (request) => {
      const base = await storedRule(request.params.id)
      const last = await lastOfRules(reports, undefined)
      const changed = await alerts.putRule(await checked(node, base, request.body), false, actorIn(request))
      return ruleBody({ ...changed, managedBy: 'store' }, last.get(changed.id))
    },
  })

  route(api, 'DELETE /alerts/rules/:id', {
    permission: 'alerts.write',
    id: 'deleteAlertRule',
    summary: 'Delete an alert rule of the store. Its open incidents end',
    params: rulePath,
    answers: { 204: noContent },
    faults: [409],
    handler: async (request, reply) => {
      await alerts.dropRule((await storedRule(request.params.id)).id, actorIn(request))
      return reply.code(204).send()
    },
  })
}

/** The rule with what is given, if it makes sense. */
async function checked(
  node: RuleNode,
  base: AlertRule,
  given: z.output<typeof ruleChange>,
): Promise<AlertRule> {
  const { alerts, declaredCatalog } = node
  const read = readCondition(base.kind, { ...base.condition, ...given.condition })
  if ('problem' in read)
    throw invalidField(`condition.${read.field}: ${read.problem}.`, `condition.${read.field}`)
  const scope = given.scope ?? base.scope
  const misfit = scopeProblem(base.kind, scope)
  if (misfit !== undefined) throw invalidField(`scope: ${misfit}.`, 'scope')
  if ('project' in scope && given.scope !== undefined) await checkProject(node, scope.project)
  const channels = [...new Set(given.channels ?? base.channels)]
  const known = new Set(
    allChannels(declaredCatalog().alerts ?? NO_ALERTS, await alerts.read()).map(({ id }) => id),
  )
  const missing = given.channels === undefined ? undefined : channels.find((id) => !known.has(id))
  if (missing !== undefined) throw invalidField(`channels: there is no alert channel ${missing}.`, 'channels')
  const hours = given.quiet === undefined ? base.quiet : (given.quiet ?? undefined)
  const odd = hours === undefined ? undefined : zoneProblem(hours.zone)
  if (odd !== undefined) throw invalidField(`quiet.zone: ${odd}.`, 'quiet.zone')
  if (hours?.from === hours?.to && hours !== undefined)
    throw invalidField('quiet: for a whole day, use from 00:00 to 24:00.', 'quiet')
  return {
    ...base,
    name: given.name ?? base.name,
    isOn: given.on ?? base.isOn,
    condition: read.condition,
    scope,
    channels,
    quiet: hours,
  }
}

async function checkProject({ declaredProjects, keyStore }: RuleNode, project: string): Promise<void> {
  if (project === '*' || declaredProjects().some(({ name }) => name === project)) return
  const [found] = await keyStore.listProjects({ projects: [project], limit: 1 })
  if (found === undefined) throw invalidField(`scope: there is no project ${project}.`, 'scope')
}
