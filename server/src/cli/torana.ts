/** `torana <command>`: finds the command and its exit code. */
import { ConfigError } from '#config/file/problem.ts'
import type { Output } from './output.ts'
import { hearSignals } from './stop-signals.ts'

type Command = (argv: string[], out: Output) => Promise<number>

const COMMANDS: Record<string, { readonly says: string; readonly load: () => Promise<{ run: Command }> }> = {
  start: {
    says: 'start the gateway (the default)',
    load: () => {
      // Before the rest of the program is loaded: a process that is told to stop meanwhile ends in order.
      hearSignals()
      return import('./start.ts')
    },
  },
  check: { says: 'check a torana.yaml and show what it declares', load: () => import('./check.ts') },
  init: { says: 'print a commented torana.yaml to start from', load: () => import('./init.ts') },
  schema: { says: 'print the JSON Schema of torana.yaml', load: () => import('./schema.ts') },
  key: {
    says: 'print a new random key for torana.yaml or TORANA_BOOTSTRAP_KEY',
    load: () => import('./key.ts'),
  },
  keys: {
    says: 'list, create, set, rotate and revoke keys of the running node',
    load: () => import('./keys.ts'),
  },
  projects: {
    says: 'list, set and delete projects of the running node',
    load: () => import('./projects.ts'),
  },
  credentials: {
    says: 'list, set and delete upstream credentials of the running node',
    load: () => import('./credentials.ts'),
  },
  unknowns: {
    says: 'list and resolve upstream calls with an unknown outcome',
    load: () => import('./unknowns.ts'),
  },
  spaces: {
    says: 'show vector spaces, probe deployments, accept a new space',
    load: () => import('./spaces.ts'),
  },
  nodes: { says: 'list nodes, and end a node whose machine is lost', load: () => import('./nodes.ts') },
  doctor: {
    says: 'check the health of the running node, its ledger and its budgets',
    load: () => import('./doctor.ts'),
  },
  generate: {
    says: 'for developers: write the generated files of this repository',
    load: () => import('./generate.ts'),
  },
}

const MOVED = '`torana import litellm` is now its own command: npx torana-import-litellm <config.yaml>'

const out: Output = process

async function main(name: string, argv: string[]): Promise<number> {
  if (name === '--help' || name === '-h' || name === 'help') {
    out.stdout.write(usage())
    return 0
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) {
    out.stderr.write(name === 'import' ? `${MOVED}\n` : `torana: unknown command '${name}'.\n\n${usage()}`)
    return 2
  }
  try {
    const { run } = await command.load()
    return await run(argv, out)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    out.stderr.write(`${error.problems.join('\n')}\n`)
    return 1
  }
}

function usage(): string {
  const rows = Object.entries(COMMANDS).map(([name, { says }]) => `  torana ${name.padEnd(12)} ${says}`)
  return `Torana, a gateway for embeddings and images.\n\n${rows.join('\n')}\n`
}

const [name = 'start', ...argv] = process.argv.slice(2)
process.exitCode = await main(name, argv)
// A node has let go of what it could. What is still open, such as a call to an upstream, has had its time.
if (name === 'start') process.exit()
