/**
 * `npm run lab -- check/contributing`: the first change of CONTRIBUTING.md, made in a copy of the working tree as the page prints it: its
 * files, its line in the list of features, and every command, which must succeed.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const REPOSITORY = join(import.meta.dirname, '../..')
const SECTION = /^## Your first change in 15 minutes$[\s\S]*?(?=^## )/m
const FILE = /^\*\*\d\. `([\w-]+\.ts)`\*\*[^`]*[\s\S]*?^```ts\n([\s\S]*?)^```$/gm
const COMMANDS = /^```sh\n([\s\S]*?)^```$/m

const [section = ''] = SECTION.exec(readFileSync(join(REPOSITORY, 'CONTRIBUTING.md'), 'utf8')) ?? []
const folder = named(/a new folder `([\w-]+)`/)
const parent = named(/of\s+`(server\/src\/control\/)`/)
const list = named(/^\*\*3\. `(server\/[\w/.-]+)`\*\*/m)
const [registration, register] = [/add `((\w+)\(api, node\))` to the list/.exec(section)].flatMap(
  (found) => found?.slice(1) ?? [],
)
const files = [...section.matchAll(FILE)].map(([, name = '', text = '']) => ({ name, text }))
const commands = named(COMMANDS)
  .split('\n')
  .map((line) => line.replace(/ +#.*/, ''))
  .filter(Boolean)

const copy = mkdtempSync(join(tmpdir(), 'torana-contributing-'))
after(() => rmSync(copy, { recursive: true }))

test('the page has two files, a line for the list, and the commands that check them', () => {
  assert.deepEqual(
    files.map(({ name }) => name),
    ['queries.ts', 'routes.ts'],
  )
  assert.ok(registration && commands.includes('npm run generate'))
  assert.equal(commands.filter((one) => one.startsWith('node --test ')).length, 2)
})

test('the change is made as it is printed', () => {
  copyCheckout()
  mkdirSync(join(copy, parent, folder))
  for (const { name, text } of files) writeFileSync(join(copy, parent, folder, name), text)
  const api = readFileSync(join(copy, list), 'utf8')
  const changed = api
    .replace(/^import /m, `import { ${register} } from './${folder}/routes.ts'\nimport `)
    .replace(/^( +)\w+\(api, node\)$/m, (line, indent: string) => `${line}\n${indent}${registration}`)
  writeFileSync(join(copy, list), changed)
})

for (const command of commands)
  test(command, () => {
    const { status, stdout, stderr } = spawnSync(command, { cwd: copy, shell: true, encoding: 'utf8' })
    assert.equal(status, 0, `${stdout}\n${stderr}`)
  })

test('the contract has the route', () => {
  const contract = readFileSync(join(copy, 'contract/control.openapi.json'), 'utf8')
  assert.ok(contract.includes(`"/api/v1/${folder}"`))
})

/** What a person would have after `git clone` and `npm ci`, with what is not committed. */
function copyCheckout(): void {
  const git = ['ls-files', '-coz', '--exclude-standard']
  const listed = execFileSync('git', git, { cwd: REPOSITORY, encoding: 'utf8', maxBuffer: 100_000_000 })
  for (const file of listed.split('\0').filter((name) => name !== '' && existsSync(join(REPOSITORY, name))))
    cpSync(join(REPOSITORY, file), join(copy, file), { verbatimSymlinks: true })
  for (const modules of globSync('{,*/,*/*/}node_modules', {
    cwd: REPOSITORY,
    exclude: ['node_modules/**', 'site/**'],
  }))
    execFileSync('cp', ['-al', join(REPOSITORY, modules), join(copy, modules)])
  // Its files would be those of the checkout.
  rmSync(join(copy, 'node_modules/.cache'), { recursive: true, force: true })
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    [...author, 'commit', '-qm', 'the working tree'],
  ])
    execFileSync('git', args, { cwd: copy })
}

function named(pattern: RegExp): string {
  const [, name] = pattern.exec(section) ?? []
  assert.ok(name, `CONTRIBUTING.md does not say ${pattern.source}`)
  return name
}
