/** Titles of the pages in the navigation: the frame shows them before their pages load. */
import { inLanguage } from '../in-language.ts'

export const places = inLanguage('places', {
  overview: 'Overview',
  requests: 'Requests',
  batches: 'Batches',
  models: 'Models',
  embeddings: 'Embeddings',
  images: 'Images',
  usage: 'Usage & cost',
  budgets: 'Budgets',
  unknowns: 'Unknowns',
  upstreams: 'Upstreams',
  deployments: 'Deployments',
  alerts: 'Alerts',
  keys: 'Keys',
  audit: 'Audit',
  settings: 'Settings',
  cost: 'Cost',
})
