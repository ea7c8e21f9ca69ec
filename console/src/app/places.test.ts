import { test } from 'node:test'
import assert from 'node:assert/strict'
import { createMemoryHistory, createRouter, type AnyRoute } from '@tanstack/react-router'
import type { Address } from '../ui/link.tsx'
import { paths } from './paths.ts'
import { GROUPS as FRAME_GROUPS, PATHS as FRAME_PATHS } from '../../first-frame.ts'
import { PLACE_GROUPS, PLACES } from './navigation.ts'
import * as places from './places.ts'
import { routeTree } from './route-tree.ts'
import { parseSearch, stringifySearch } from './search.ts'

/** Addresses that people have saved and sent to others: a change of one breaks their links. */
const ADDRESSES: Partial<Record<keyof typeof paths, readonly [made: Address, address: string]>> = {
  overview: [paths.overview({ view: 'table' }), '/?view=table'],
  requests: [
    paths.requests({ outcome: 'failed', key: 'ads/website' }),
    '/requests?outcome=failed&key=ads/website',
  ],
  request: [paths.request('01a1', { tab: 'ledger' }), '/requests/01a1?tab=ledger'],
  batches: [paths.batches({ state: 'open' }), '/batches?state=open'],
  batch: [paths.batch('batch_01a1'), '/batches/batch_01a1'],
  newBatch: [paths.newBatch({ text: 'body', rows: 'skip' }), '/batches/new?text=body&rows=skip'],
  models: [paths.models({ can: ['mask', 'edits'] }), '/models?can=mask&can=edits'],
  model: [paths.model('BAAI/bge-m3'), '/models/BAAI%2Fbge-m3'],
  embeddings: [paths.embeddings({ view: 'raw' }), '/playground/embeddings?view=raw'],
  images: [paths.images({ mode: 'edit' }), '/playground/images?mode=edit'],
  usage: [paths.usage({ before: true, since: undefined }), '/usage?before=1'],
  budgets: [paths.budgets(), '/budgets'],
  budget: [paths.budget('key:ads/website'), '/budgets/key/ads%2Fwebsite'],
  unknowns: [paths.unknowns({ state: 'resolved' }), '/unknowns?state=resolved'],
  upstreams: [paths.upstreams({ model: 'BAAI/bge-m3' }), '/upstreams?model=BAAI/bge-m3'],
  deployments: [paths.deployments(), '/deployments'],
  deployment: [paths.deployment('gpt-image-2/azure-eu'), '/deployments/gpt-image-2%2Fazure-eu'],
  alerts: [paths.alerts({ state: 'open', new: 'budget' }), '/alerts?state=open&new=budget'],
  keys: [paths.keys({ new: true }), '/keys?new=1'],
  key: [paths.key('search/indexer'), '/keys/search/indexer'],
  audit: [paths.audit({ open: '12' }), '/audit?open=12'],
  settings: [paths.settings('sign-on'), '/settings/sign-on'],
  welcome: [paths.welcome(), '/welcome'],
  signIn: [paths.signIn({ return: '/keys' }), '/sign-in?return=/keys'],
  apiReference: [paths.apiReference({ api: 'control' }), '/api-reference?api=control'],
  invite: [paths.invite('a b'), '/invite/a%20b'],
  go: [paths.go('x/y'), '/go/x%2Fy'],
}

for (const [name, [made, address]] of Object.entries(ADDRESSES))
  test(`the address of ${name} is ${address}`, () => {
    assert.equal(routerAt('/').buildLocation(made).href, address)
  })

test('an id in a path comes back as it was, whatever it holds', () => {
  for (const id of ['BAAI/bge-m3', 'a b', 'größe:ü', '100%', 'a?b=c&d', '#1', 'gpt-image-2/azure-eu/eu?']) {
    const { publicHref } = routerAt('/').buildLocation(paths.model(id))
    assert.deepEqual(openedAt(publicHref).params, { id })
  }
})

test('wrong values of an address are dropped, parameters that no page knows are kept', () => {
  const address = '/requests?status=abc&outcome=great&slower=-1&kind=edit&utm=mail&project=ads'
  assert.deepEqual(openedAt(address).search, { kind: 'edit', utm: 'mail', project: 'ads' })
})

test('links keep the project of the address, unless they name another one or none', () => {
  const router = routerAt('/requests?project=ads&outcome=failed')
  const hrefOf = (to: Address): string => router.buildLocation(to).href
  assert.equal(hrefOf(paths.keys({ state: 'tidy' })), '/keys?state=tidy&project=ads')
  assert.equal(hrefOf(paths.keys({ project: 'search' })), '/keys?project=search')
  assert.equal(hrefOf(paths.keys({ project: undefined })), '/keys')
  assert.equal(hrefOf(paths.signIn()), '/sign-in')
})

test('below a path of its own, links and the pages behind them stay below it', () => {
  for (const base of ['/torana/console', '/keys']) {
    const { publicHref } = routerAt(base, base).buildLocation(paths.key('search/indexer'))
    assert.equal(publicHref, `${base}/keys/search/indexer`)
    assert.deepEqual(openedAt(publicHref, base).params, { project: 'search', name: 'indexer' })
  }
})

test('no two places share a letter, a path, or a position in the sidebar', () => {
  const all = Object.values<AnyRoute>(places)
  const navigations = all.flatMap(({ options }) => options.staticData?.navigation ?? [])
  for (const names of [
    navigations.map(({ key }) => key),
    navigations.map(({ group, position }) => `${group} ${position}`),
    all.map(({ options }) => ('path' in options ? options.path : '')),
  ])
    assert.deepEqual(names, [...new Set(names)])
})

test('each action of a page begins with parameters that the page reads', () => {
  for (const place of PLACES)
    for (const { id, to } of [place, ...place.sections].flatMap(({ actions }) => actions)) {
      const { href } = routerAt('/').buildLocation(to)
      assert.deepEqual(openedAt(href).search, to.search, id)
    }
})

/** What the page at an address is given. */
function openedAt(address: string, basepath?: string): { readonly params: object; readonly search: object } {
  const router = routerAt(address, basepath)
  const { params, search } = router.matchRoutes(router.latestLocation).at(-1)!
  const given = Object.entries(search).filter(([, value]) => value !== undefined)
  return { params: { ...params }, search: Object.fromEntries(given) }
}

function routerAt(address: string, basepath = '/') {
  return createRouter({
    routeTree,
    history: createMemoryHistory({ initialEntries: [address] }),
    basepath,
    parseSearch,
    stringifySearch,
  })
}

/** Never called: it does not compile if an address takes what its page does not read. */
export function wrongAddresses(): readonly Address[] {
  return [
    // @ts-expect-error no such value
    paths.requests({ outcome: 'great' }),
    // @ts-expect-error no such parameter
    paths.keys({ stat: 'tidy' }),
    // @ts-expect-error no such section
    paths.settings('prizes'),
    // @ts-expect-error no id
    paths.key(),
  ]
}

test('the navigation in the HTML is that of the places, in their order', () => {
  const groups = PLACE_GROUPS.map((group) => group.places.map(({ name }) => name))
  assert.deepEqual(FRAME_GROUPS, groups)
  for (const [name, path] of Object.entries(FRAME_PATHS))
    assert.equal(ADDRESSES[name as keyof typeof ADDRESSES]?.[1].split('?')[0], `/${path}`)
})
