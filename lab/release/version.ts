/**
 * `npm run release:version -- minor`: the packages, the chart and the changelog get the next version. A person opens the pull request, so
 * that it gets its checks: GitHub starts none for the pull request of a workflow's own token.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { withRelease } from './changelog.ts'
import { changelogOf, packageOf, writeVersion } from './files.ts'
import { nextVersion } from './next-version.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { root: { type: 'string', default: join(import.meta.dirname, '../..') } },
})
const { root } = values
const version = nextVersion(packageOf(root).version, positionals[0])
const changelog = withRelease(changelogOf(root), version, new Date().toISOString().slice(0, 10))
writeFileSync(join(root, 'CHANGELOG.md'), changelog)
writeVersion(root, version)
console.log(
  `Version ${version}. Commit it as "chore: version ${version}" and open a pull request. Its merge releases it.`,
)
