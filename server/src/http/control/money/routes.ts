/** Routes about money: what was spent, budgets, calls that may have been paid, and prices. */
import { registerBudgets, type BudgetDependencies } from '../budgets/routes.ts'
import { registerPrices, type PricesDependencies } from '../prices/routes.ts'
import { registerUnknowns, type UnknownDependencies } from '../unknowns/routes.ts'
import { registerUsage, type UsageDependencies } from '../usage/routes.ts'
import type { Api } from '../wire/route.ts'

export type MoneyDependencies = UsageDependencies &
  BudgetDependencies &
  UnknownDependencies &
  PricesDependencies

export function registerMoney(api: Api, dependencies: MoneyDependencies): void {
  registerUsage(api, dependencies)
  registerBudgets(api, dependencies)
  registerUnknowns(api, dependencies)
  registerPrices(api, dependencies)
}
