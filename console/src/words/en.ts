import { ui } from './en/ui.ts'
import { shell } from './en/shell.ts'
import { nodes } from './en/nodes.ts'
import { overview } from './en/overview.ts'
import { requests } from './en/requests.ts'
import { batches } from './en/batches.ts'
import { models } from './en/models.ts'
import { upstreams } from './en/upstreams.ts'
import { embeddings } from './en/embeddings.ts'
import { images } from './en/images.ts'
import { usage } from './en/usage.ts'
import { budgets } from './en/budgets.ts'
import { prices } from './en/prices.ts'
import { unknowns } from './en/unknowns.ts'
import { deployments } from './en/deployments.ts'
import { keys } from './en/keys.ts'
import { audit } from './en/audit.ts'
import { people } from './en/people.ts'
import { projects, retention } from './en/projects.ts'
import { settings } from './en/settings.ts'
import { welcome } from './en/welcome.ts'

/** One file a place, so that two people seldom write into the same one. */
export const en = {
  ui,
  shell,
  nodes,
  overview,
  requests,
  batches,
  models,
  upstreams,
  embeddings,
  images,
  usage,
  budgets,
  prices,
  unknowns,
  deployments,
  keys,
  audit,
  people,
  projects,
  retention,
  settings,
  welcome,
}

export type Words = typeof en
