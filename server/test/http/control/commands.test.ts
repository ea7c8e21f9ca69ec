/** `torana keys`, `projects` and `credentials` as a person runs them, against a control API. A process is started only where that matters. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runCommand } from '#cli/command/run.ts'
import { COMMANDS, TOPICS } from '#cli/commands.ts'
import { keyForm } from '#core/keys/key.ts'
import { ADMIN_TOKEN, LOCAL_TOKEN, startControl } from '#test/support/control.ts'
import { digested, memoryDirectory } from '#test/support/directory.ts'
import { runTorana, temporaryFolder } from '#test/support/process.ts'

const directory = memoryDirectory()
const { url, keyStore, credentials, audit } = await startControl(directory)
const folder = temporaryFolder()
mkdirSync(join(folder, '.torana'))
writeFileSync(join(folder, '.torana', 'admin.token'), `${LOCAL_TOKEN}\n`)
writeFileSync(join(folder, 'secret.txt'), 'sk-brought-in-a-file-0123\n')

const atUrl = { CONTROL_PORT: new URL(url).port }
const socketOf = (port: string | number): string => join(folder, '.torana', `control-${port}.sock`)
/** As a node has it. */
const socket = createServer((client) => client.pipe(connect(Number(atUrl.CONTROL_PORT))).pipe(client))
socket.listen(socketOf(atUrl.CONTROL_PORT))
after(() => socket.close())

async function asProcess(args: string) {
  const { exit, stdout, stderr } = runTorana({ folder, args: args.split(' '), env: atUrl })
  return { code: await exit, stdout: stdout(), stderr: stderr() }
}

/** In this process, which has the folder and the environment of the command until it ends: loading the program takes longer than all it does. */
async function torana(args: string, env: Readonly<Record<string, string>> = atUrl) {
  const [name, ...words] = args.split(' ')
  const command = COMMANDS.find((one) => one.name === name) ?? assert.fail(args)
  const said = { stdout: '', stderr: '' }
  const out = {
    stdout: { write: (text: string) => void (said.stdout += text) },
    stderr: { write: (text: string) => void (said.stderr += text) },
  }
  const before = { folder: process.cwd(), env: { ...process.env } }
  const given = { CONTROL_PORT: '0', ...env }
  process.chdir(folder)
  Object.assign(process.env, given)
  try {
    return { code: await runCommand(command, words, out, TOPICS), ...said }
  } finally {
    process.chdir(before.folder)
    for (const variable of Object.keys(given)) {
      const value = before.env[variable]
      if (value === undefined) delete process.env[variable]
      else process.env[variable] = value
    }
  }
}

test('a command whose reader ends first, as head does, ends without a complaint', async () => {
  const { child, exit, stderr } = runTorana({ folder, args: ['keys', 'list'], env: atUrl })
  child.stdout?.destroy()
  assert.deepEqual([await exit, stderr()], [0, ''])
})

test('a key expires at a day, or a span from now; what is neither is refused by the name of its option', async () => {
  const beforeMs = Date.now()
  const made = await torana('keys create spans/k --expires 30d --json')
  assert.equal(made.code, 0, made.stderr)
  const { expires_at: at } = JSON.parse(made.stdout) as { expires_at: string }
  const afterMs = Date.parse(at) - 30 * 86_400_000
  assert.ok(afterMs >= beforeMs - 1 && afterMs <= Date.now(), at)
  for (const wrong of ['soon', '30', '1y', '31.01.2027']) {
    const { code, stderr } = await torana(`keys create spans/other --expires ${wrong}`)
    assert.equal(code, 2)
    assert.match(
      stderr,
      /--expires: expected a day such as 2027-01-31, .*a span such as 30d, or never, got "/,
    )
    assert.ok(stderr.includes(`"${wrong}"`))
  }
  assert.equal((await torana('keys revoke spans/k')).code, 0)
})

test('a key is made, listed, set, rotated and revoked', async () => {
  const made = await torana(
    'keys create search/ci --models small --scope embeddings,images --calls 4 --from 127.0.0.1,10.0.0.0/8 --expires 2099-01-31 --requests-per-minute 60 --budget 20 --hard',
  )
  assert.equal(made.code, 0, made.stderr)
  const secret = made.stdout.trim()
  assert.equal(keyForm(secret), 'torana')
  assert.equal(made.stderr, 'search/ci is created. Its secret is shown only once:\n')
  const key = await keyStore.findKey([digested(secret).digest])
  assert.deepEqual(
    [key?.id, key?.models, key?.limits, key?.budget, key?.expiresAtMs],
    [
      'search/ci',
      ['small'],
      { requestsPerMinute: 60 },
      { limitNanoUsd: 20_000_000_000n, per: 'month', hard: true },
      Date.parse('2099-01-31'),
    ],
  )
  assert.deepEqual(
    [key?.scopes, key?.maxCallsAtOnce, key?.addresses],
    [['embeddings', 'images'], 4, ['127.0.0.1', '10.0.0.0/8']],
  )
  const listed = await torana('keys list')
  assert.match(
    listed.stdout,
    /^search\/ci +active +small +for embeddings,images; 4 at once; from 127\.0\.0\.1,10\.0\.0\.0\/8 +60 requests a minute +\$20\.00 a month, hard +2099-01-31 00:00 +- +…\w{4}$/m,
  )
  assert.match(listed.stdout, /^declared\/ci +configured /m)
  assert.ok(!listed.stdout.includes(secret))
  const json = JSON.parse((await torana('keys list --project search --json')).stdout) as { id: string }[]
  assert.deepEqual(
    json.map(({ id }) => id),
    ['search/ci'],
  )

  const set = await torana(
    'keys set search/ci --models all --scope all --calls none --from anywhere --expires never --budget none',
  )
  assert.match(set.stdout, /^search\/ci +active +all +- +60 requests a minute +- +- /m)
  const rotated = await torana('keys rotate search/ci --overlap 2h')
  assert.equal(keyForm(rotated.stdout.trim()), 'torana')
  assert.match(rotated.stderr, /works until 20/)
  const atOnce = await torana('keys rotate search/ci --overlap 0')
  assert.match(atOnce.stderr, /refused from now on/)
  assert.deepEqual(
    (await torana('keys revoke search/ci')).stderr,
    'search/ci is revoked. Its batches pause: continue or cancel them with torana batch.\n',
  )
  assert.match((await torana('keys list --project search')).stdout, /^search\/ci +revoked /m)
  assert.deepEqual(
    (await torana('keys revoke search/ci --leaked')).stderr,
    'search/ci is revoked. Its batches are cancelled.\n',
  )
  assert.match((await torana('keys list --project search')).stdout, /^search\/ci +leaked /m)
  assert.equal((await audit.list({ limit: 1 }))[0]?.actor, 'local-admin')
})

test('a key from elsewhere is taken over from a file, never from the command line', async () => {
  const made = await torana('keys create search/brought --secret-file secret.txt')
  assert.deepEqual([made.code, made.stdout], [0, ''])
  assert.ok(await keyStore.findKey([digested('sk-brought-in-a-file-0123').digest]))
})

test('a project is made, set and deleted, but not by a slip', async () => {
  const made = await torana('projects set chat --budget 5.5 --per week --tokens-per-minute 1000')
  assert.match(made.stdout, /^chat +store +1000 tokens a minute +\$5\.50 a week$/m)
  const set = await torana('projects set chat --tokens-per-minute none')
  assert.match(set.stdout, /^chat +store +- +\$5\.50 a week$/m)
  const slip = await torana('projects delete chat')
  assert.equal(slip.code, 2)
  assert.match(slip.stderr, /--yes/)
  assert.equal((await torana('projects delete chat --yes')).code, 0)
  assert.doesNotMatch((await torana('projects list')).stdout, /chat/)
})

test('a credential is stored, listed and deleted', async () => {
  const stored = await torana('credentials set openai --secret-file secret.txt')
  assert.match(stored.stderr, /sends it to https:\/\/api\.openai\.com\/v1 only/)
  assert.equal(await credentials.open('openai', 'https://api.openai.com/v1'), 'sk-brought-in-a-file-0123')
  assert.match((await torana('credentials list')).stdout, /^openai +https:\S+ +store /m)
  await torana('credentials delete openai')
  assert.match((await torana('credentials list')).stdout, /^openai +https:\S+ +none /m)
})

test('a refusal of the node is shown in its own words', async () => {
  const refused = await torana('keys create search/new --models smal')
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /there is no model smal\. Did you mean small\?/)
  assert.match((await torana('keys revoke search/missing')).stderr, /There is no key search\/missing/)
})

test('the admin token of the environment counts before the one of the folder', async () => {
  assert.equal((await torana('keys list', { ...atUrl, TORANA_ADMIN_TOKEN: ADMIN_TOKEN })).code, 0)
  const refused = await torana('keys list', { ...atUrl, TORANA_ADMIN_TOKEN: 'x1234567'.repeat(3) })
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /refused the token of TORANA_ADMIN_TOKEN/)
  const none = await torana('keys list', { ...atUrl, TORANA_DATA_DIR: './nowhere' })
  assert.match(none.stderr, /No node uses \S+nowhere\. Run this in the folder where Torana started/)
  const named = await torana(`keys list --url ${url}`, { TORANA_DATA_DIR: './nowhere' })
  assert.match(named.stderr, /no admin token.*nowhere\/admin\.token/s)
})

test('a missing node, or another program in its place, is reported', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  const missing = await torana(`keys list --url http://127.0.0.1:${port}`)
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /No node answers at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\).*torana start/)
  assert.match((await torana('keys list', { CONTROL_PORT: '0' })).stderr, /CONTROL_PORT is 0.*--url/)
  const elsewhere = await torana(`keys list --url ${url}/livez`)
  assert.match(elsewhere.stderr, /answered 404\. Is it the control listener/)
})

test('commands take the only node of the data folder, whatever its port, and name the nodes where there are several', async () => {
  const unset = { CONTROL_PORT: '' }
  const only = await torana('keys list', unset)
  assert.equal(only.code, 0, only.stderr)
  const named = await torana('keys list', { CONTROL_PORT: '8099' })
  assert.match(named.stderr, /control-8099\.sock does not exist\. In the data folder are control-\d+\.sock:/)
  const second = createServer().listen(socketOf(8098))
  await once(second, 'listening')
  const several = await torana('keys list', unset)
  second.close()
  assert.equal(several.code, 1)
  assert.match(
    several.stderr,
    /control-8081\.sock does not exist\. In the data folder are control-\d+\.sock, control-\d+\.sock: set CONTROL_PORT/,
  )
  mkdirSync(join(folder, 'empty'))
  writeFileSync(join(folder, 'empty', 'admin.token'), LOCAL_TOKEN)
  const none = await torana('keys list', { ...unset, TORANA_DATA_DIR: './empty' })
  assert.match(none.stderr, /No node runs on the data folder .*control-8081\.sock does not exist.*--url http/)
})

test('another program on the port of a node is not sent the token', async () => {
  let received = ''
  const hear = (client: Socket): void =>
    void client
      .on('error', () => {})
      .once('data', (bytes) => {
        received += bytes.toString()
        client.destroy()
      })
  const squatter = createServer(hear).listen(0, '127.0.0.1')
  after(() => squatter.close())
  await once(squatter, 'listening')
  const { port } = squatter.address() as AddressInfo
  const env = { CONTROL_PORT: String(port) }
  const absent = await torana('keys list', env)
  assert.equal(absent.code, 1)
  assert.match(
    absent.stderr,
    /control-\d+\.sock does not exist\. In the data folder are control-\d+\.sock: set CONTROL_PORT.*--url http/,
  )
  const deep = 'x'.repeat(100)
  mkdirSync(join(folder, deep))
  writeFileSync(join(folder, deep, 'admin.token'), LOCAL_TOKEN)
  const long = await torana('keys list', { ...env, TORANA_DATA_DIR: deep })
  assert.match(long.stderr, /its path has \d+ bytes, and a socket can have 10\d: .*shorter path.*--url http/)

  writeFileSync(socketOf(port), 'not a socket')
  assert.match((await torana('keys list', env)).stderr, /is not the socket of a node of yours/)
  rmSync(socketOf(port))
  // Only root can make files of another user.
  if (process.getuid?.() === 0) {
    const foreign = createServer(hear).listen(socketOf(port))
    await once(foreign, 'listening')
    chownSync(socketOf(port), 12_345, 12_345)
    assert.match((await torana('keys list', env)).stderr, /is not the socket of a node of yours/)
    foreign.close()
  }
  // It is asked for its health, since a node that starts has no socket yet.
  assert.ok(!received.includes(LOCAL_TOKEN) && !received.includes('authorization'), received)
  // A person who names the address has chosen it.
  await torana(`keys list --url http://127.0.0.1:${port}`)
  assert.ok(received.includes(LOCAL_TOKEN))
})

test('a wrong word is a misuse that names the right ones', async () => {
  for (const [args, words, run = torana] of [
    ['projcts', /there is no command 'projcts'\. Did you mean projects\?/, asProcess],
    ['keys lsit', /there is no command 'torana keys lsit'\. Did you mean list\?/],
    ['keys create', /<project>\/<name> is missing/],
    ['keys create a b', /"b" is one word too many/],
    ['keys list --colour red', /there is no option --colour/],
    ['keys list --projet x', /Did you mean --project\?/],
    ['keys list --project --json', /--project needs a value: --project <project>/],
    ['keys list --json=yes', /--json takes no value/],
    ['projects set', /<project> is missing/],
    ['projects set a --budget 1 --per yaer', /expected day, week, month or total, got "yaer"/],
    ['start --bogus', /there is no option --bogus/],
    ['--prot 1', /Did you mean --port\?/, asProcess],
    ['keys create nosl', /<project>\/<name>/],
    ['keys rotate a/b --overlap soon', /30m, 24h or 7d/],
    ['keys create a/b --hard', /need a --budget/],
    ['keys set a/b', /Name at least one setting/],
    ['keys set a/b --requests-per-minute many', /a number or none/],
  ] as const) {
    const { code, stdout, stderr } = await run(args)
    assert.deepEqual([code, stdout], [2, ''], args)
    assert.match(stderr, words)
    assert.match(stderr, /\nSee torana .*--help\n$/)
  }
})

test('--help tells on standard output and never acts, and a bare noun lists', async () => {
  for (const [args, run = torana] of [
    ['--help', asProcess],
    ['help', asProcess],
    ['start --help'],
    ['start -h'],
    ['key --help'],
    ['keys --help'],
    ['keys create --help'],
  ] as const) {
    const { code, stdout, stderr } = await run(args)
    assert.deepEqual([code, stderr], [0, ''], args)
    assert.match(stdout, /torana/)
    assert.doesNotMatch(stdout, /tr_/)
  }
  const listed = await torana('keys --json')
  assert.deepEqual([listed.code, Array.isArray(JSON.parse(listed.stdout))], [0, true])
  for (const args of ['--version', '-v'])
    assert.match((await asProcess(args)).stdout, /^torana \d+\.\d+\.\d+ \(Node 2\d/)
})
