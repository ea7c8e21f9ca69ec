/** Every address of the console. Nobody writes one by hand; docs/console.md has the table. */
import { stringifySearch } from './search.ts'

type Search = Record<string, string | number | boolean | readonly string[] | null | undefined>

/** Ids hold slashes: in one segment they are `%2F`. */
const segment = encodeURIComponent

const at =
  (path: string) =>
  (search: Search = {}): string =>
    `${path}${stringifySearch(search)}`

export const paths = {
  overview: at('/'),
  requests: at('/requests'),
  request: (id: string, search: Search = {}) => at(`/requests/${segment(id)}`)(search),
  batches: at('/batches'),
  batch: (id: string, search: Search = {}) => at(`/batches/${segment(id)}`)(search),
  models: at('/models'),
  model: (id: string, search: Search = {}) => at(`/models/${segment(id)}`)(search),
  embeddings: at('/playground/embeddings'),
  images: at('/playground/images'),
  usage: at('/usage'),
  budgets: at('/budgets'),
  /** `project:ads`, `key:ads/website`. */
  budget: (id: string, search: Search = {}) => {
    const [scope = '', ...name] = id.split(':')
    return at(`/budgets/${segment(scope)}/${segment(name.join(':'))}`)(search)
  },
  unknowns: at('/unknowns'),
  deployments: at('/deployments'),
  deployment: (id: string, search: Search = {}) => at(`/deployments/${segment(id)}`)(search),
  keys: at('/keys'),
  /** `search/indexer`. */
  key: (id: string, search: Search = {}) => {
    const [project = '', ...name] = id.split('/')
    return at(`/keys/${segment(project)}/${segment(name.join('/'))}`)(search)
  },
  audit: at('/audit'),
  settings: (section: SettingsSection = 'general', search: Search = {}) => at(`/settings/${section}`)(search),
  welcome: at('/welcome'),
  signIn: at('/sign-in'),
  invite: (token: string) => `/invite/${segment(token)}`,
  go: (id: string) => `/go/${segment(id)}`,
} as const

export const SETTINGS_SECTIONS = [
  'general',
  'members',
  'sign-on',
  'tokens',
  'prices',
  'projects',
  'retention',
  'nodes',
  'about',
] as const
export type SettingsSection = (typeof SETTINGS_SECTIONS)[number]
