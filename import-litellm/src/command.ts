/** Reads a LiteLLM configuration, writes a torana.yaml and says what became of everything. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { builtInFacts, ConfigError, parseSource, readConfig } from 'torana/config'
import { isMapping } from './read.ts'
import { reportText } from './report.ts'
import { toranaYaml } from './torana-file.ts'
import { translate } from './translate.ts'
import { environmentFile, type Variable } from './variables.ts'

const USAGE = `usage: torana-import-litellm <config.yaml> [options]

  --output <file>        write torana.yaml there; else it goes to standard output
  --secrets-file <file>  write the secrets that stood in the imported file there, as NAME=value, readable by you only
  --force                overwrite these files

The report goes to standard error.
`

const OPTIONS = {
  output: { type: 'string' },
  'secrets-file': { type: 'string' },
  force: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** The process's own streams, or a test's. */
interface Output {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** The exit code. */
export function run(argv: string[], out: Output): number {
  const given = readArguments(argv)
  const [config, ...others] = given?.positionals ?? []
  if (given === undefined || given.values.help || config === undefined || others.length > 0) {
    const isAsked = given?.values.help === true
    ;(isAsked ? out.stdout : out.stderr).write(USAGE)
    return isAsked ? 0 : 2
  }
  try {
    return importFile(config, given.values, out)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    out.stderr.write(`${error.problems.join('\n')}\n`)
    return 1
  }
}

function importFile(
  config: string,
  { output, 'secrets-file': secretsFile, force }: NonNullable<ReturnType<typeof readArguments>>['values'],
  out: Output,
): number {
  for (const file of [output, secretsFile]) {
    if (file !== undefined && existsSync(file) && !force)
      throw new ConfigError([`${file}: is there already; --force overwrites it`])
  }

  const name = basename(config)
  const text = readFile(config)
  const { file, notes, variables } = translate(readLiteLlm(name, text), text, builtInFacts())
  const isWorthwhile = file.models.size > 0
  const yaml = toranaYaml(file, name)
  const used = variables.all().filter((variable) => yaml.includes(`\${${variable.name}}`))
  const { text: secrets, unwritten } = environmentFile(used)
  const problems = isWorthwhile ? problemsOf(yaml, used) : ['there is no embedding model to carry over']
  out.stderr.write(reportText({ file, notes, variables: used, secretsFile, unwritten, problems }))
  if (!isWorthwhile) return 1
  if (secretsFile !== undefined) writeSecrets(secretsFile, secrets)
  if (output === undefined) out.stdout.write(yaml)
  else writeFileSync(output, yaml)
  return problems.length > 0 ? 1 : 0
}

function readArguments(argv: string[]) {
  try {
    return parseArgs({ args: argv, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError([`${file}: can't be read (${(error as NodeJS.ErrnoException).code})`])
  }
}

/** Throws a `ConfigError` when nothing can be made of it; repeated keys are harmless, the last one counts. */
function readLiteLlm(name: string, text: string) {
  try {
    const source = parseSource(name, text)
    if (source.data === undefined) throw new ConfigError(source.report.problems())
    if (!isMapping(source.data))
      throw new ConfigError([`${name}: is no LiteLLM configuration: expected a mapping`])
    return source
  } catch (error) {
    // The parser goes down as deep as the file does.
    if (error instanceof RangeError) throw new ConfigError([`${name}: is nested too deeply to be read`])
    throw error
  }
}

/** Reads the new file as `torana check` will, with an example for each variable. */
function problemsOf(yaml: string, variables: readonly Variable[]): readonly string[] {
  const env = Object.fromEntries(variables.map(({ name, value, example }) => [name, value ?? example]))
  try {
    readConfig('torana.yaml', yaml, {
      env,
      readFile,
      facts: builtInFacts(),
      bootstrapKey: undefined,
      nowMs: Date.now(),
    })
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems
  }
}

/** Nobody else may read it, also where it was there before with other rights. */
function writeSecrets(file: string, text: string): void {
  writeFileSync(file, '', { mode: 0o600 })
  chmodSync(file, 0o600)
  writeFileSync(file, text)
}
