import { test } from 'node:test'
import assert from 'node:assert/strict'
import { paths } from './paths.ts'

/** Every address of the console. A new one belongs here too. */
const ADDRESSES: Record<keyof typeof paths, readonly [made: string, address: string]> = {
  overview: [paths.overview({ view: 'table' }), '/?view=table'],
  requests: [
    paths.requests({ outcome: 'failed', key: 'ads/website' }),
    '/requests?outcome=failed&key=ads/website',
  ],
  request: [paths.request('01a1', { tab: 'ledger' }), '/requests/01a1?tab=ledger'],
  batches: [paths.batches({ state: 'open' }), '/batches?state=open'],
  batch: [paths.batch('batch_01a1'), '/batches/batch_01a1'],
  models: [paths.models({ can: ['mask', 'edits'] }), '/models?can=mask&can=edits'],
  model: [paths.model('BAAI/bge-m3'), '/models/BAAI%2Fbge-m3'],
  embeddings: [paths.embeddings({ view: 'raw' }), '/playground/embeddings?view=raw'],
  images: [paths.images({ mode: 'edit' }), '/playground/images?mode=edit'],
  usage: [paths.usage({ before: true, since: undefined }), '/usage?before=1'],
  budgets: [paths.budgets(), '/budgets'],
  budget: [paths.budget('key:ads/website'), '/budgets/key/ads%2Fwebsite'],
  unknowns: [paths.unknowns({ state: 'resolved' }), '/unknowns?state=resolved'],
  deployments: [paths.deployments(), '/deployments'],
  deployment: [paths.deployment('gpt-image-2/azure-eu'), '/deployments/gpt-image-2%2Fazure-eu'],
  keys: [paths.keys({ new: true }), '/keys?new=1'],
  key: [paths.key('search/indexer'), '/keys/search/indexer'],
  audit: [paths.audit({ open: '12' }), '/audit?open=12'],
  settings: [paths.settings('sign-on'), '/settings/sign-on'],
  welcome: [paths.welcome(), '/welcome'],
  signIn: [paths.signIn({ return: '/keys' }), '/sign-in?return=/keys'],
  invite: [paths.invite('a b'), '/invite/a%20b'],
  go: [paths.go('x/y'), '/go/x%2Fy'],
}

for (const [name, [made, address]] of Object.entries(ADDRESSES))
  test(`the address of ${name} is ${address}`, () => {
    assert.equal(made, address)
  })
