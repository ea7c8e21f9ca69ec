/** All commands, by topic, in the order in which people meet them. */
import type { Command, Topic } from './command/command.ts'
import { alerts } from './commands/alerts.ts'
import { audit } from './commands/audit.ts'
import { batch } from './commands/batch.ts'
import { backup } from './commands/backup.ts'
import { budgets } from './commands/budgets.ts'
import { deployments } from './commands/deployments.ts'
import { embed } from './commands/embed.ts'
import { importing } from './commands/import.ts'
import { image } from './commands/image.ts'
import { jobs } from './commands/jobs.ts'
import { ledger } from './commands/ledger.ts'
import { migrate } from './commands/migrate.ts'
import { models } from './commands/models.ts'
import { requests } from './commands/requests.ts'
import { usage } from './commands/usage.ts'
import { catalog } from './commands/catalog.ts'
import { check } from './commands/check.ts'
import { completion } from './commands/completion.ts'
import { config } from './commands/config.ts'
import { credentials } from './commands/credentials.ts'
import { demo } from './commands/demo.ts'
import { doctor } from './commands/doctor.ts'
import { init } from './commands/init.ts'
import { key } from './commands/key.ts'
import { keys } from './commands/keys.ts'
import { nodes } from './commands/nodes.ts'
import { projects } from './commands/projects.ts'
import { restore } from './commands/restore.ts'
import { schema } from './commands/schema.ts'
import { spaces } from './commands/spaces.ts'
import { start } from './commands/start.ts'
import { unknowns } from './commands/unknowns.ts'
import { version } from './commands/version.ts'

export const TOPICS: readonly Topic[] = [
  { title: 'Start', commands: [start, demo, init, importing, check, schema, key] },
  { title: 'Try', commands: [embed, image] },
  { title: 'Bulk', commands: [batch] },
  { title: 'Callers', commands: [keys, projects] },
  {
    title: 'Models and upstreams',
    commands: [models, deployments, config, catalog, credentials, spaces],
  },
  { title: 'Money', commands: [usage, budgets, unknowns] },
  { title: 'What happened', commands: [alerts, requests, jobs, audit] },
  { title: 'Run', commands: [doctor, nodes, ledger, backup, restore, migrate] },
  { title: 'This command', commands: [version, completion] },
]

export const COMMANDS: readonly Command[] = TOPICS.flatMap(({ commands }) => commands)
