import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { Network } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { oneOf, range, searchOf, text, usageMeasure } from '../../app/search.ts'

export const deployments = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deployments',
  validateSearch: searchOf({ health: oneOf('unwell'), kind: oneOf('embedding', 'image'), upstream: text() }),
  component: lazyRouteComponent(() => import('./deployments-page.tsx'), 'DeploymentsPage'),
  staticData: {
    navigation: {
      title: 'deployments',
      icon: Network,
      group: 'run',
      position: 1,
      key: 'd',
      permission: 'deployments.read',
      actions: [{ id: 'unhealthyDeployments', search: { health: 'unwell' } }],
      phoneTitle: 'deployments',
    },
  },
})

/** `gpt-image-2/azure-eu`. */
export const deployment = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deployments/$id',
  validateSearch: searchOf({
    ...range,
    tab: oneOf('health', 'drift', 'limits', 'capabilities', 'requests', 'usage'),
    looks: oneOf('24h', '14d', '90d'),
    measure: oneOf('cosine', 'images', 'length'),
    show: usageMeasure,
    do: oneOf('drain', 'test'),
  }),
  component: lazyRouteComponent(() => import('./deployment-page.tsx'), 'DeploymentPage'),
})
