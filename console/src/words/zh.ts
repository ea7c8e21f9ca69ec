import type { Words } from './en.ts'
import type { Partly } from './fallback.ts'
import { ui } from './zh/ui.ts'
import { shell } from './zh/shell.ts'
import { nodes } from './zh/nodes.ts'
import { overview } from './zh/overview.ts'
import { requests } from './zh/requests.ts'
import { batches } from './zh/batches.ts'
import { models } from './zh/models.ts'
import { upstreams } from './zh/upstreams.ts'
import { embeddings } from './zh/embeddings.ts'
import { images } from './zh/images.ts'
import { usage } from './zh/usage.ts'
import { budgets } from './zh/budgets.ts'
import { prices } from './zh/prices.ts'
import { unknowns } from './zh/unknowns.ts'
import { deployments } from './zh/deployments.ts'
import { keys } from './zh/keys.ts'
import { audit } from './zh/audit.ts'
import { people } from './zh/people.ts'
import { projects, retention } from './zh/projects.ts'
import { settings } from './zh/settings.ts'
import { welcome } from './zh/welcome.ts'

/** An entry that is missing here shows in English. `zh-missing.md` lists them. */
export const zh: Partly<Words> = {
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
