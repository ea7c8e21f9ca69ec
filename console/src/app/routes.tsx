/** Every address of the console: its search parameters and its page, which is loaded when it is asked for. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { BASE } from './base.ts'
import { GoPage } from './go-page.tsx'
import { NotFound, PageBroke } from './problems.tsx'
import { SPANS } from '../time/range.ts'
import { Root } from './root.tsx'
import {
  flag,
  oneOf,
  parseSearch,
  searchOf,
  size,
  stringifySearch,
  text,
  texts,
  time,
  usageGroup,
} from './search.ts'
import { Shell } from './shell.tsx'

const range = { since: oneOf(...SPANS), from: time(), to: time() }

/** What a picture of usage counts. */
const shown = oneOf('usd', 'tokens', 'images', 'requests')

const rootRoute = createRootRoute({
  component: Root,
  validateSearch: searchOf({ project: text() }),
  notFoundComponent: NotFound,
})

/** Pages around which the navigation stands. */
const shellRoute = createRoute({ getParentRoute: () => rootRoute, id: 'shell', component: Shell })

const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: searchOf({
    ...range,
    metric: oneOf('requests', 'tokens', 'images', 'usd'),
    view: oneOf('picture', 'table'),
  }),
  component: lazyRouteComponent(() => import('../pages/overview/overview-page.tsx'), 'OverviewPage'),
})

const requestFilters = {
  ...range,
  outcome: oneOf('answered', 'refused', 'limited', 'failed', 'unknown'),
  kind: oneOf('embedding', 'generation', 'edit', 'image'),
  source: oneOf('callers', 'batches'),
  model: text(),
  deployment: text(),
  key: text(),
  status: text(),
  fault: text(),
  slower: size(),
  dearer: size(),
  tries: size(),
  client: text(),
  user: text(),
  tag: text(),
  sort: oneOf('-at', '-duration', '-cost'),
}

const requestsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/requests',
  validateSearch: searchOf({ ...requestFilters, peek: text(), live: flag() }),
  component: lazyRouteComponent(() => import('../pages/requests/requests-page.tsx'), 'RequestsPage'),
})

const requestRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/requests/$id',
  validateSearch: searchOf({
    ...requestFilters,
    tab: oneOf('waterfall', 'wire', 'headers', 'ledger', 'job'),
  }),
  component: lazyRouteComponent(() => import('../pages/requests/request-page.tsx'), 'RequestPage'),
})

const batchesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/batches',
  validateSearch: searchOf({
    state: oneOf('open', 'in_progress', 'cancelling', 'completed', 'failed', 'expired', 'cancelled'),
  }),
  component: lazyRouteComponent(() => import('../pages/batches/batches-page.tsx'), 'BatchesPage'),
})

const batchRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/batches/$id',
  component: lazyRouteComponent(() => import('../pages/batches/batch-page.tsx'), 'BatchPage'),
})

const modelsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models',
  validateSearch: searchOf({
    kind: oneOf('embedding', 'image'),
    q: text(),
    can: texts(),
    upstream: text(),
    health: text(),
    sort: text(),
  }),
  component: lazyRouteComponent(() => import('../pages/models/models-page.tsx'), 'ModelsPage'),
})

const modelRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models/$id',
  validateSearch: searchOf({
    ...range,
    tab: oneOf('capabilities', 'prices', 'routing', 'traffic', 'space'),
    sdk: text(),
  }),
  component: lazyRouteComponent(() => import('../pages/models/model-page.tsx'), 'ModelPage'),
})

const embeddingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground/embeddings',
  // Never texts: an address is sent to colleagues and kept in logs.
  validateSearch: searchOf({
    model: text(),
    view: oneOf('map', 'similarity', 'search', 'compare', 'raw', 'code'),
    width: size(),
    against: text(),
    sdk: text(),
  }),
  component: lazyRouteComponent(() => import('../pages/embeddings/embeddings-page.tsx'), 'EmbeddingsPage'),
})

const imagesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground/images',
  validateSearch: searchOf({
    mode: oneOf('generate', 'edit'),
    model: text(),
    from: text(),
    view: oneOf('mask', 'pair', 'changed'),
  }),
  component: lazyRouteComponent(() => import('../pages/images/images-page.tsx'), 'ImagesPage'),
})

const usageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/usage',
  validateSearch: searchOf({
    ...range,
    by: usageGroup(),
    show: shown,
    only: texts(),
    before: flag(),
    sort: text(),
  }),
  component: lazyRouteComponent(() => import('../pages/usage/usage-page.tsx'), 'UsagePage'),
})

const budgetsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/budgets',
  validateSearch: searchOf({ scope: oneOf('project', 'key') }),
  component: lazyRouteComponent(() => import('../pages/budgets/budgets-page.tsx'), 'BudgetsPage'),
})

const budgetRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/budgets/$scope/$name',
  validateSearch: searchOf({ scope: oneOf('project', 'key') }),
  component: lazyRouteComponent(() => import('../pages/budgets/budgets-page.tsx'), 'BudgetsPage'),
})

const unknownsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/unknowns',
  validateSearch: searchOf({ state: oneOf('open', 'resolved'), open: text() }),
  component: lazyRouteComponent(() => import('../pages/unknowns/unknowns-page.tsx'), 'UnknownsPage'),
})

const deploymentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deployments',
  validateSearch: searchOf({ health: oneOf('unwell'), kind: oneOf('embedding', 'image'), upstream: text() }),
  component: lazyRouteComponent(() => import('../pages/deployments/deployments-page.tsx'), 'DeploymentsPage'),
})

const deploymentRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deployments/$id',
  validateSearch: searchOf({
    ...range,
    tab: oneOf('health', 'drift', 'limits', 'capabilities', 'requests', 'usage'),
    looks: oneOf('24h', '14d', '90d'),
    measure: oneOf('cosine', 'length'),
    show: shown,
  }),
  component: lazyRouteComponent(() => import('../pages/deployments/deployment-page.tsx'), 'DeploymentPage'),
})

const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  validateSearch: searchOf({
    q: text(),
    state: oneOf('active', 'ending', 'tidy', 'revoked'),
    new: flag(),
    sort: oneOf('id', '-used', 'ends'),
  }),
  component: lazyRouteComponent(() => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
})

const keyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys/$project/$name',
  validateSearch: searchOf({ ...range, tab: oneOf('terms', 'requests', 'usage'), show: shown }),
  component: lazyRouteComponent(() => import('../pages/keys/key-page.tsx'), 'KeyPage'),
})

const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: searchOf({
    actor: text(),
    action: text(),
    target: text(),
    from: time(),
    to: time(),
    open: text(),
  }),
  component: lazyRouteComponent(() => import('../pages/audit/audit-page.tsx'), 'AuditPage'),
})

const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings/$section',
  component: lazyRouteComponent(() => import('../pages/settings/settings-page.tsx'), 'SettingsPage'),
})

const welcomeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/welcome',
  component: lazyRouteComponent(() => import('../pages/welcome/welcome-page.tsx'), 'WelcomePage'),
})

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: searchOf({ return: text(), problem: text() }),
  component: lazyRouteComponent(() => import('../pages/welcome/sign-in-page.tsx'), 'SignInPage'),
})

const inviteRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invite/$token',
  component: lazyRouteComponent(() => import('../pages/welcome/invite-page.tsx'), 'InvitePage'),
})

const goRoute = createRoute({ getParentRoute: () => shellRoute, path: '/go/$id', component: GoPage })

const routeTree = rootRoute.addChildren([
  shellRoute.addChildren([
    overviewRoute,
    requestsRoute,
    requestRoute,
    batchesRoute,
    batchRoute,
    modelsRoute,
    modelRoute,
    embeddingsRoute,
    imagesRoute,
    usageRoute,
    budgetsRoute,
    budgetRoute,
    unknownsRoute,
    deploymentsRoute,
    deploymentRoute,
    keysRoute,
    keyRoute,
    auditRoute,
    settingsRoute,
    goRoute,
  ]),
  welcomeRoute,
  signInRoute,
  inviteRoute,
])

export const router = createRouter({
  routeTree,
  basepath: BASE,
  parseSearch,
  stringifySearch,
  defaultErrorComponent: PageBroke,
  // The frame of a page is there at once, and its chunk is small: nothing flickers.
  defaultPendingMs: 150,
  scrollRestoration: true,
  search: { strict: false },
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
