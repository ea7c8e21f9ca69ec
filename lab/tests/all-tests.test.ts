import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { againAlone, tellVerdict } from './all-tests.ts'
import { runCommands, type Ended } from './commands.ts'

const EACH_MS = 60_000

/** A command that fails until `passesAfter` runs were made; here it has already failed once. */
function failedOnce(context: TestContext, passesAfter: number): Ended {
  const folder = mkdtempSync(join(tmpdir(), 'torana-again-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const runs = join(folder, 'runs')
  writeFileSync(runs, '1')
  const script = `
    const { readFileSync, writeFileSync } = require('node:fs')
    const runs = Number(readFileSync(process.argv[1], 'utf8')) + 1
    writeFileSync(process.argv[1], String(runs))
    process.exitCode = runs > ${passesAfter} ? 0 : 1`
  const command = { part: 'own', program: process.execPath, args: ['-e', script, runs] }
  return { command, output: '', isGood: false, end: 1, cpuSeconds: 0 }
}

const ROWS = [
  { says: 'a test that fails beside others and passes alone counts as passed', passesAfter: [1], failed: 0 },
  { says: 'a test that fails again counts as failed', passesAfter: [9], failed: 1 },
  { says: 'more failures than a busy machine makes are not tried again', passesAfter: [1, 1, 1], failed: 3 },
]

for (const { says, passesAfter, failed } of ROWS)
  test(says, async (context) => {
    const good: Ended = {
      command: { part: 'own', program: 'true', args: [] },
      output: '',
      isGood: true,
      end: 0,
      cpuSeconds: 0,
    }
    const ended = await againAlone([good, ...passesAfter.map((after) => failedOnce(context, after))], EACH_MS)
    assert.equal(ended.length, passesAfter.length + 1)
    assert.equal(ended.filter(({ isGood }) => !isGood).length, failed)
  })

test('a file that hangs is reported by its timeout, not by what Node says of an interrupted test', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'torana-hang-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'hangs.test.mjs')
  writeFileSync(
    file,
    `import { test } from 'node:test'
    test('hangs', () => new Promise(() => setInterval(() => {}, 1000)))`,
  )
  const said: string[] = []
  context.mock.method(console, 'log', (text: string) => void said.push(text))
  const args = ['--test', '--test-isolation=none', file]
  const ended = await runCommands([{ part: 'own', program: process.execPath, args }], {
    atOnce: 1,
    eachMs: 3000,
  })
  assert.equal(tellVerdict(ended), false)
  assert.match(said.join('\n'), /failing:\n\n--test .*hangs\.test\.mjs ended with a timeout of 3 s\n/)
})

test('a green script without tests counts as one, and a red one shows the end of what it said', (context) => {
  const said: string[] = []
  context.mock.method(console, 'log', (text: string) => void said.push(text))
  const script = (output: string, isGood: boolean): Ended => ({
    command: { part: 'knip', program: 'npm', args: ['run', 'knip'] },
    output,
    isGood,
    end: isGood ? 0 : 1,
    cpuSeconds: 0,
  })
  assert.equal(tellVerdict([script('', true)]), true)
  assert.equal(said.at(-1), '1 passed, 0 failed')
  assert.equal(tellVerdict([script('', true), script('Unused files: a.ts', false)]), false)
  assert.equal(said.at(-1), '1 passed, 1 failed')
  assert.match(said.join('\n'), /Unused files: a\.ts/)
})

test(
  'the CPU time of a command is that of all its processes',
  { skip: process.platform !== 'linux' && 'reads /proc' },
  async () => {
    const busy = 'const end = process.cpuUsage().user + 300000; while (process.cpuUsage().user < end);'
    const args = [
      '-e',
      `require('node:child_process').execFileSync(process.execPath, ['-e', ${JSON.stringify(busy)}])`,
    ]
    const [ended] = await runCommands([{ part: 'own', program: process.execPath, args }], {
      atOnce: 1,
      eachMs: EACH_MS,
    })
    assert.ok((ended?.cpuSeconds ?? 0) >= 0.3, String(ended?.cpuSeconds))
  },
)
