import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { ChartColumn } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { flag, range, searchOf, text, texts, usageGroup, usageMeasure } from '../../app/search.ts'

export const usage = createRoute({
  getParentRoute: () => shellRoute,
  path: '/usage',
  validateSearch: searchOf({
    ...range,
    by: usageGroup(),
    show: usageMeasure,
    only: texts(),
    before: flag(),
    sort: text(),
    export: flag(),
  }),
  component: lazyRouteComponent(() => import('./usage-page.tsx'), 'UsagePage'),
  staticData: {
    navigation: {
      title: 'usage',
      icon: ChartColumn,
      group: 'money',
      position: 1,
      key: 'u',
      permission: 'usage.read',
      actions: [
        { id: 'exportUsage', search: { export: true }, permission: 'usage.export' },
        { id: 'comparePeriods', search: { before: true } },
      ],
      phoneTitle: 'cost',
    },
  },
})
