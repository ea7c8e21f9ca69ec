/**
 * `node lab/release/main.ts`: prints what the present commit releases, as lines for a workflow's outputs. It changes nothing.
 * `--notes <file>` also writes the text of the release. `--root` and `--registry` name another checkout and another registry.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { changelogOf, packageOf, strayVersionsOf } from './files.ts'
import { planOf } from './plan.ts'

/** How long the registry may take to answer. It usually takes less than a second; the job has ten minutes. */
const REGISTRY_TIMEOUT_MS = 60_000

const { values } = parseArgs({
  options: {
    root: { type: 'string', default: join(import.meta.dirname, '../..') },
    registry: { type: 'string', default: 'https://registry.npmjs.org' },
    notes: { type: 'string' },
  },
})
const { root, registry } = values
const { name, version, repository } = packageOf(root)
const isTagged = git('tag', '--list', `v${version}`) !== ''
const { next, tags, publishes, why, notes } = planOf({
  version,
  changelog: changelogOf(root),
  strayVersions: strayVersionsOf(root),
  publishedFrom: await publishedFrom(),
  ownRepository: repository.url,
  commit: git('rev-parse', 'HEAD'),
  taggedCommit: isTagged ? git('rev-parse', `v${version}^{commit}`) : undefined,
})
if (values.notes !== undefined) writeFileSync(values.notes, `${notes}\n`)
console.log(`version=${version}\nnext=${next}\ntags=${tags}\npublishes=${publishes}\nwhy=${why}`)

/** Only a 404 means "not published": a registry that fails must not look like an empty one. */
async function publishedFrom(): Promise<string | undefined> {
  const url = `${registry}/${name}/${version}`
  const response = await fetch(url, { signal: AbortSignal.timeout(REGISTRY_TIMEOUT_MS) })
  if (response.status === 404) return undefined
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  const published = (await response.json()) as { readonly repository?: { readonly url?: string } }
  return published.repository?.url ?? 'an unnamed repository'
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}
