/** Runs one command: its words, what it says and its exit code. */
import { ConfigError } from '#config/file/problem.ts'
import { Misuse, type Call, type Command, type Shown, type Topic } from './command.ts'
import { CommandProblem } from '../client/command-problem.ts'
import { ControlClient } from '../client/control-client.ts'
import { helpOf } from './help.ts'
import type { Output } from './output.ts'
import { locate, read, type Invocation } from './parse.ts'

/** 0 done, 1 failed, 2 the command line is wrong. */
export async function runCommand(
  found: Command,
  argv: readonly string[],
  out: Output,
  topics: readonly Topic[] = [],
): Promise<number> {
  let path: readonly string[] = [found.name]
  try {
    const place = locate(found, argv)
    path = place.path
    const asked = read(place)
    if (asked.kind === 'help') {
      out.stdout.write(helpOf(asked.command, path))
      return 0
    }
    const call = callOf(asked, out, topics)
    const said = await asked.leaf.run(call)
    return typeof said === 'number' ? said : show(said, call)
  } catch (error) {
    const said = `torana ${path.join(' ')}`
    if (error instanceof Misuse) {
      out.stderr.write(`${said}: ${error.message}\nSee ${said} --help\n`)
      return 2
    }
    if (error instanceof CommandProblem) out.stderr.write(`${said}: ${error.message}\n`)
    else if (error instanceof ConfigError) out.stderr.write(`${error.problems.join('\n')}\n`)
    else throw error
    return 1
  }
}

function callOf({ leaf, given, values }: Invocation, out: Output, topics: readonly Topic[]): Call {
  const text = (option: string): string | undefined => {
    const value = values.get(option)
    return typeof value === 'string' ? value : undefined
  }
  // A command that asks both has one of them in `--url`, the other in its variables.
  const urlOf = (reach: typeof leaf.reach): string | undefined =>
    leaf.reach === reach ? text('url') : undefined
  return {
    given,
    text,
    flag: (option) => values.get(option) === true,
    isJson: values.get('json') === true,
    isElsewhere: values.has('url'),
    control: new ControlClient({ url: urlOf('node'), token: text('token') }, process.env, process.cwd()),
    async gateway() {
      const { openGateway } = await import('../client/gateway-client.ts')
      return openGateway({ url: urlOf('gateway'), key: text('key') }, process.env, process.cwd())
    },
    out,
    topics,
  }
}

function show({ data, text = '', note, exitCode = 0 }: Shown, { isJson, out }: Call): number {
  if (note !== undefined) out.stderr.write(`${note}\n`)
  out.stdout.write(isJson ? jsonText(data) : text)
  return exitCode
}

function jsonText(data: unknown): string {
  return `${JSON.stringify(data ?? null, undefined, 2)}\n`
}
