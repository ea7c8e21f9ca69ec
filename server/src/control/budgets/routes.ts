/** Budgets: how full they are, and whether they will last. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { windowOf } from '#core/money/budget.ts'
import { FORECAST_DAYS } from '#core/money/forecast.ts'
import { HOUR_MS } from '#core/money/ledger.ts'
import { callerIn, checkSeen, visibleProjects } from '../shared/caller.ts'
import { notFound } from '../shared/faults.ts'
import { pageLimit, pageOf, storable, time, usd } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { cursorPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import {
  budgetStanding,
  countRefused,
  HOURLY_DAYS,
  lastDaysOf,
  listBudgets,
  listNotifications,
  listSpenders,
  projectOf,
  refusedRequests,
  spender,
  spentSlots,
  type SpentBudget,
} from './queries.ts'
import { budgetsIn, lineOf, passedMarks, standingOf } from './rules.ts'

const NAME_CHARACTERS = 200
const SPENDERS = 10
/** The contract's name for the hosts of the webhooks that were notified. */
const HOSTS = 'told'

const budgetDetail = budgetStanding
  .extend({
    marks: z.array(
      z.object({
        percent: z.union([z.literal(50), z.literal(80), z.literal(100)]),
        at: time.describe('When it was passed: to the hour, unless a webhook was notified.'),
        [HOSTS]: z.array(z.string()).describe('Hosts of webhooks that were notified.'),
      }),
    ),
    refused: refusedRequests,
    spenders: z.array(spender),
  })
  .meta({ id: 'BudgetDetail' })

const budgetQuery = z.object({
  project: storable(NAME_CHARACTERS).optional(),
  scope: z.enum(['project', 'key']).optional(),
  after: z
    .string()
    .max(2 * NAME_CHARACTERS)
    .regex(/^\d{1,30}\.\d{9}~[^\0]+$/, 'expected `next` of the page before')
    .optional(),
  limit: pageLimit,
})

const budgetList = pageOf(budgetStanding).meta({ id: 'BudgetList' })

const budgetPath = z.object({
  id: storable(2 * NAME_CHARACTERS).regex(
    /^(project|key):/,
    'expected project:<name> or key:<project>/<name>',
  ),
})

const budgetSeries = z
  .object({
    data: z.array(z.object({ at: time, spent_usd: usd })),
    has_more: z.literal(false),
    next: z.null(),
  })
  .meta({ id: 'BudgetSeries' })

export function registerBudgets(
  api: Api,
  { reports, declaredProjects, clock }: Pick<ControlNode, 'reports' | 'declaredProjects' | 'clock'>,
): void {
  const found = async (request: FastifyRequest, id: string, nowMs: number): Promise<SpentBudget> => {
    checkSeen(callerIn(request), projectOf(id), `budget ${id}`)
    const [budget] = await listBudgets(reports, budgetsIn(declaredProjects()), { id, limit: 1 }, nowMs)
    if (budget === undefined) throw notFound(`There is no budget ${id}.`)
    return budget
  }

  route(api, 'GET /budgets', {
    permission: 'budgets.read',
    id: 'listBudgets',
    summary: 'Budgets of projects and keys with what they have spent, the fullest first',
    query: budgetQuery,
    answer: budgetList,
    handler: async (request) => {
      const { project, scope, after, limit } = request.query
      const nowMs = clock.nowMs()
      const declared = declaredProjects()
      const projects = visibleProjects(callerIn(request), project)
      const question = { projects, scope, after, limit: limit + 1 }
      const budgets = await listBudgets(reports, budgetsIn(declared), question, nowMs)
      const ids = budgets.map(({ id }) => id)
      const lastDays = await lastDaysOf(reports, ids, FORECAST_DAYS, nowMs)
      return cursorPage(budgets, limit, {
        bodyOf: (budget) => standingOf(budget, lastDays.get(budget.id) ?? [], declared, nowMs),
        cursorOf: ({ fullness, id }) => `${fullness}~${id}`,
      })
    },
  })

  route(api, 'GET /budgets/:id', {
    permission: 'budgets.read',
    id: 'getBudget',
    summary: 'One budget, with who spends it, its marks and what was refused for it',
    params: budgetPath,
    answer: budgetDetail,
    handler: async (request) => {
      const { id } = request.params
      const nowMs = clock.nowMs()
      const budget = await found(request, id, nowMs)
      const window = windowOf(budget.per, nowMs)
      const [lastDays, slots, spenders] = await Promise.all([
        lastDaysOf(reports, [id], FORECAST_DAYS, nowMs),
        spentSlots(reports, id, window, nowMs),
        listSpenders(reports, id, window, SPENDERS, nowMs),
      ])
      const [notifications, refused] = await Promise.all([
        listNotifications(reports, id, window),
        countRefused(reports, id, window, nowMs),
      ])
      const marks = passedMarks(budget.limit_nano, slots, notifications)
      return {
        ...standingOf(budget, lastDays.get(id) ?? [], declaredProjects(), nowMs),
        marks: marks.map(({ percent, at, hosts }) => ({ percent, at, [HOSTS]: hosts })),
        refused,
        spenders,
      }
    },
  })

  route(api, 'GET /budgets/:id/series', {
    permission: 'budgets.read',
    id: 'budgetSeries',
    summary: `What was spent in this window, hour by hour; day by day where it is longer than ${HOURLY_DAYS} days`,
    params: budgetPath,
    answer: budgetSeries,
    handler: async (request) => {
      const { id } = request.params
      const nowMs = clock.nowMs()
      const { per } = await found(request, id, nowMs)
      const window = windowOf(per, nowMs)
      const slots = await spentSlots(reports, id, window, nowMs)
      const slotMs = per === 'total' ? 24 * HOUR_MS : HOUR_MS
      return { data: lineOf(slots, { ...window, slotMs, nowMs }), has_more: false as const, next: null }
    },
  })
}
