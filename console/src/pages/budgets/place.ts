import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { Wallet } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { flag, oneOf, searchOf } from '../../app/search.ts'

const component = lazyRouteComponent(() => import('./budgets-page.tsx'), 'BudgetsPage')
const validateSearch = searchOf({ scope: oneOf('project', 'key'), new: flag() })

export const budgets = createRoute({
  getParentRoute: () => shellRoute,
  path: '/budgets',
  validateSearch,
  component,
  staticData: {
    navigation: {
      title: 'budgets',
      icon: Wallet,
      group: 'money',
      position: 2,
      key: 'b',
      permission: 'budgets.read',
      actions: [{ id: 'newBudget', search: { new: true }, permission: 'projects.write' }],
    },
  },
})

/** `project:ads`, `key:ads/website`. */
export const budget = createRoute({
  getParentRoute: () => shellRoute,
  path: '/budgets/$scope/$name',
  validateSearch,
  component,
  staticData: { separator: ':' },
})
