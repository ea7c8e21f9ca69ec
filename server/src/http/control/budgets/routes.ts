/** Routes about budgets: how full they are, and whether they will last. */
import type { FastifyRequest } from 'fastify'
import type { Project } from '#core/catalog.ts'
import { windowOf, type Budget } from '#core/budget.ts'
import { decimalOf } from '#core/price.ts'
import { HOURLY_DAYS, type BudgetReader, type BudgetSpent } from '#ports/budget-report.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { callerIn, checkSeen, visibleProjects } from '../access/caller.ts'
import { notFound } from '../wire/faults.ts'
import { cursorPage } from '../wire/page.ts'
import type { Api } from '../wire/route.ts'
import { marksOf, seriesBody, SLOT_MS, standingBody } from './bodies.ts'
import { budgetDetail, budgetList, budgetPath, budgetQuery, budgetSeries } from './schemas.ts'

export interface BudgetDependencies {
  readonly budgets: BudgetReader
  /** Projects and keys of torana.yaml and of the environment. */
  readonly declared: () => readonly Project[]
  readonly nowMs: () => number
}

/** Each weekday once. */
const FORECAST_DAYS = 7
const SPENDERS = 10

export function registerBudgets(api: Api, dependencies: BudgetDependencies): void {
  const { budgets, declared, nowMs } = dependencies

  const found = async (request: FastifyRequest, id: string): Promise<BudgetSpent> => {
    const [project = ''] = id.slice(id.indexOf(':') + 1).split('/')
    checkSeen(callerIn(request), project, `budget ${id}`)
    const filter = { projects: undefined, scope: undefined, id }
    const [standing] = await budgets.standings(budgetsIn(declared()), filter, { limit: 1, after: undefined })
    if (standing === undefined) throw notFound(`There is no budget ${id}.`)
    return standing
  }

  api.get('/budgets', {
    config: { permission: 'budgets.read' },
    schema: {
      operationId: 'listBudgets',
      summary: 'Budgets of projects and keys with what they have spent, the fullest first',
      querystring: budgetQuery,
      response: { 200: budgetList, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request) => {
      const { project, scope, after, limit } = request.query
      const filter = { projects: visibleProjects(callerIn(request), project), scope, id: undefined }
      const rows = await budgets.standings(budgetsIn(declared()), filter, { limit: limit + 1, after })
      const ids = rows.map(({ budget }) => budget.id)
      const lastDays = await budgets.lastDays(ids, FORECAST_DAYS)
      return cursorPage(rows, limit, {
        bodyOf: (row) => ({
          ...standingBody(row, lastDays.get(row.budget.id) ?? [], nowMs()),
          managed_at: placeOf(declared(), row.budget.id),
        }),
        cursorOf: ({ cursor }) => cursor,
      })
    },
  })

  api.get('/budgets/:id', {
    config: { permission: 'budgets.read' },
    schema: {
      operationId: 'getBudget',
      summary: 'One budget, with who spends it, its marks and what was refused for it',
      params: budgetPath,
      response: { 200: budgetDetail, ...faultAnswers([400, 401, 403, 404, 503]) },
    },
    handler: async (request) => {
      const { id } = request.params
      const standing = await found(request, id)
      const { limitNanoUsd, per } = standing.budget
      const window = windowOf(per, nowMs())
      const [lastDays, series, spenders] = await Promise.all([
        budgets.lastDays([id], FORECAST_DAYS),
        budgets.series(id, window),
        budgets.spenders(id, window, SPENDERS),
      ])
      const [told, refused] = await Promise.all([budgets.told(id, window), budgets.refused(id, window)])
      return {
        ...standingBody(standing, lastDays.get(id) ?? [], nowMs()),
        managed_at: placeOf(declared(), id),
        marks: marksOf(limitNanoUsd, series, told),
        refused: {
          budget_exhausted: refused.get('budget_exhausted') ?? 0,
          budget_reserved: refused.get('budget_reserved') ?? 0,
          model_unpriced: refused.get('model_unpriced') ?? 0,
        },
        spenders: spenders.map(({ keyId, nanoUsd, models }) => ({
          key: keyId,
          usd: decimalOf(nanoUsd),
          models: [...models],
        })),
      }
    },
  })

  api.get('/budgets/:id/series', {
    config: { permission: 'budgets.read' },
    schema: {
      operationId: 'budgetSeries',
      summary: `What was spent in this window, hour by hour; day by day where it is longer than ${HOURLY_DAYS} days`,
      params: budgetPath,
      response: { 200: budgetSeries, ...faultAnswers([400, 401, 403, 404, 503]) },
    },
    handler: async (request) => {
      const { id } = request.params
      const { budget } = await found(request, id)
      const window = windowOf(budget.per, nowMs())
      const slotMs = budget.per === 'total' ? SLOT_MS.day : SLOT_MS.hour
      const series = await budgets.series(id, window)
      return { data: seriesBody(series, window, slotMs, nowMs()), has_more: false as const, next: null }
    },
  })
}

function budgetsIn(projects: readonly Project[]): readonly Budget[] {
  return projects.flatMap(({ name, budget, keys }) => [
    ...(budget ? [{ id: `project:${name}`, ...budget }] : []),
    ...keys.flatMap((key) => (key.budget ? [{ id: `key:${name}/${key.name}`, ...key.budget }] : [])),
  ])
}

/** The line of torana.yaml. null: it is kept in the store. */
function placeOf(projects: readonly Project[], id: string): string | null {
  const [project = '', key] = id.slice(id.indexOf(':') + 1).split('/')
  const found = projects.find(({ name }) => name === project)
  if (found === undefined) return null
  if (key === undefined) return found.managedAt ?? null
  return found.keys.find(({ name }) => name === key)?.managedAt ?? null
}
