/** What list and show commands print, against a server that answers as a node does. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ANSWERS } from '#test/support/cli-answers.ts'
import { runCommand } from '../command/run.ts'
import { COMMANDS } from '../commands.ts'

/** How the server answers: as declared, with empty lists, or with one item per page. */
let mode: 'whole' | 'empty' | 'paged' = 'whole'
const asked: string[] = []
const server = createServer((request, response) => {
  const { pathname, search } = new URL(request.url ?? '', 'http://node')
  const answer = ANSWERS[`${request.method} ${pathname}`]
  asked.push(`${pathname}${search}`)
  response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(answerIn(answer as Answer)))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => server.close())
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

interface Answer {
  readonly data: readonly unknown[]
}

function answerIn(answer: Answer): unknown {
  if (mode === 'empty') return { data: [], has_more: false, next: null }
  if (mode === 'whole') return answer
  const at = asked.length - 1
  const hasMore = at + 1 < answer.data.length
  const hasCursor = !/projects|audit/.test(asked[at] ?? '')
  return {
    data: answer.data.slice(at, at + 1),
    has_more: hasMore,
    ...(hasCursor && { next: hasMore ? `c${at}` : null }),
  }
}

async function printed(line: string): Promise<string> {
  const [name = '', ...words] = line.split(' ')
  const found = COMMANDS.find((command) => command.name === name)
  assert.ok(found, line)
  let text = ''
  const write = (more: string) => void (text += more)
  const credential = name === 'batch' ? ['--key', 'k'] : ['--token', 't']
  const code = await runCommand(found, [...words, '--url', url, ...credential], {
    stdout: { write },
    stderr: { write },
  })
  return `$ torana ${line}\n${text}${code === 0 ? '' : `exit code ${code}\n`}`
}

/** Lists that may be empty, and all else that prints a table. */
const LISTS = [
  'projects list',
  'keys list',
  'credentials list',
  'models',
  'deployments list',
  'spaces list',
  'budgets list',
  'unknowns list',
  'requests',
  'audit',
  'config history',
  'nodes list',
  'jobs',
  'batch ls',
  'alerts list',
  'alerts rules',
  'alerts channels',
]
const OTHERS = [
  'projects set search --hard --budget 50',
  'keys set search/ci --calls 3',
  'deployments test small/openai',
  'deployments test picture/house',
  'spaces probe small',
  'budgets show project:search',
  'requests 01a1dd73',
  'requests 01b1',
  'requests 01d1',
  'nodes list --all',
  'usage --by tag:team',
  'batch show batch_1',
  'batch show batch_2',
  'batch show batch_3',
]
const EXPECTED = join(import.meta.dirname, '../../../test/support/cli-tables.txt')

test('every list and show command prints its table, and a sentence where there is nothing', async () => {
  const texts: string[] = []
  for (const line of [...LISTS, ...OTHERS]) texts.push(await printed(line))
  mode = 'empty'
  for (const line of LISTS) texts.push(await printed(line))
  mode = 'whole'
  assert.equal(texts.join('\n'), readFileSync(EXPECTED, 'utf8'))
})

const QUERIES = [
  [
    'models --kind image --upstream openai --health ill',
    ['/api/v1/models?kind=image&upstream=openai&health=ill'],
  ],
  ['keys list --project a/b', ['/api/v1/keys?project=a%2Fb&limit=1000']],
  [
    'jobs --project a --model b --status failed --limit 70',
    ['/api/v1/image-jobs?project=a&model=b&status=failed&limit=50'],
  ],
  ['budgets list --project a --scope key', ['/api/v1/budgets?project=a&scope=key&limit=50']],
  [
    'audit --from 2026-11-01 --to 2026-11-02 --actor a --action b --target c --limit 600',
    [
      '/api/v1/audit?from=2026-11-01T00%3A00%3A00.000Z&to=2026-11-02T00%3A00%3A00.000Z&actor=a&action=b&target=c&limit=500',
    ],
  ],
  [
    'requests --from 2026-11-01 --key a/b --slower-ms 5 --tag team:red --sort dearest --limit 3',
    [
      '/api/v1/requests?from=2026-11-01T00%3A00%3A00.000Z&key=a%2Fb&tag=team%3Ared&slower_ms=5&sort=-cost&limit=3',
    ],
  ],
] as const

test('options become parameters of the question', async () => {
  for (const [line, expected] of QUERIES) {
    asked.length = 0
    await printed(line)
    assert.deepEqual(asked, expected, line)
  }
})

const PAGED = [
  ['projects list', ['/api/v1/projects?limit=1000', '/api/v1/projects?limit=1000&after=search']],
  [
    'keys list',
    ['/api/v1/keys?limit=1000', '/api/v1/keys?limit=1000&after=c0', '/api/v1/keys?limit=1000&after=c1'],
  ],
  ['unknowns list', ['/api/v1/unknowns?limit=1000', '/api/v1/unknowns?limit=1000&after=c0']],
  ['audit', ['/api/v1/audit?limit=50', '/api/v1/audit?limit=49&before=7']],
  ['requests --limit 2', ['/api/v1/requests?sort=-at&limit=2', '/api/v1/requests?sort=-at&limit=1&after=c0']],
  ['budgets list', ['/api/v1/budgets?limit=50', '/api/v1/budgets?limit=49&after=c0']],
] as const

test('a list of several pages is read to its end, or to its limit', async () => {
  mode = 'paged'
  for (const [line, expected] of PAGED) {
    asked.length = 0
    await printed(line)
    assert.deepEqual(asked, expected, line)
  }
  mode = 'whole'
})

test('--json prints the items as the node sent them', async () => {
  for (const line of LISTS.filter((one) => one !== 'nodes list')) {
    const [, path = line] = /^(?:batch|torana) (\w+)/.exec(line) ?? []
    const [, json = ''] = /^\$[^\n]*\n([^]*?)(?:exit code|$)/.exec(await printed(`${line} --json`)) ?? []
    const sent = Object.entries(ANSWERS).find(([at]) => at.endsWith(`/${NAMES[line] ?? path.split(' ')[0]}`))
    assert.ok(sent, line)
    const { data } = sent[1] as { readonly data: unknown }
    assert.deepEqual(JSON.parse(json), JSON.parse(JSON.stringify(data)), line)
  }
})

const NAMES: Readonly<Record<string, string>> = {
  'config history': 'configuration/changes',
  jobs: 'image-jobs',
  'alerts list': 'alerts/incidents',
  'alerts rules': 'alerts/rules',
  'alerts channels': 'alerts/channels',
  'batch ls': 'batches',
}
