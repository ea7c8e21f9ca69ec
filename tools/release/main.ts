/** `npm run release:version`, after `changeset version` raised the package: changelog, root and chart follow. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withRelease } from './changelog.ts'

const root = join(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as { version: string }

change('CHANGELOG.md', (text) => withRelease(text, version, new Date().toISOString().slice(0, 10)))
change('package.json', (text) => text.replace(/^  "version": ".*",$/m, `  "version": "${version}",`))
change('deploy/helm/torana/Chart.yaml', (text) =>
  text.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`),
)

function change(file: string, by: (text: string) => string): void {
  const path = join(root, file)
  writeFileSync(path, by(readFileSync(path, 'utf8')))
}
